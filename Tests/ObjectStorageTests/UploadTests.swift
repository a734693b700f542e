import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

/// What OSS answers to a body.
func uploadResponse(_ body: [UInt8], headers: [String] = []) -> ScriptedAction {
    let digest = hexadecimalText(Digest.md5(body)).uppercased()
    return .response(
        "200 OK",
        headers: [
            "ETag: \"\(digest)\"", "x-oss-hash-crc64ecma: \(CRC64(of: body).value)",
        ] + headers
    )
}

@Suite("Uploads", .timeLimit(.minutes(10)))
struct UploadTests {
    private let content = ramp(300_000)

    private func put(
        _ fixture: ClientFixture,
        _ request: PutRequest = PutRequest(key: "k"),
        onProgress: @escaping @Sendable (Int) -> Void = { _ in }
    ) async throws -> PutResult {
        try await fixture.client.put(request, body: .bytes(content), onProgress: onProgress)
    }

    @Test func `an object is put with its headers`() async throws {
        let content = content
        let fixture = try ClientFixture { _, _ in
            [uploadResponse(content, headers: ["x-oss-version-id: V"])]
        }
        let result = try await put(
            fixture,
            PutRequest(
                key: "k",
                contentType: "text/plain",
                userMetadata: [(name: "Osssync-Upload", value: "t")],
                storageClass: StorageClass(name: "IA"),
                forbidsOverwrite: true
            )
        )
        #expect(result.crc64 == CRC64(of: content))
        #expect(result.sentChecksum == CRC64(of: content))
        #expect(result.versionID == VersionID("V"))
        let seen = try #require(fixture.server.requests.first)
        #expect(seen.body == content)
        #expect(seen["content-type"] == "text/plain")
        #expect(seen["x-oss-meta-osssync-upload"] == "t")
        #expect(seen["x-oss-storage-class"] == "IA")
        #expect(seen["x-oss-forbid-overwrite"] == "true")
    }

    @Test func `an empty object is put`() async throws {
        let fixture = try ClientFixture { _, _ in [uploadResponse([])] }
        let result = try await fixture.client.put(
            PutRequest(key: "k"),
            body: .none,
            onProgress: { _ in }
        )
        #expect(result.sentChecksum == CRC64())
        #expect(fixture.server.requests.first?["content-type"] == nil)
    }

    @Test(.enabled(if: usesLibcurl))
    func `a body is sent again from its start, and counted once`() async throws {
        let content = content
        let fixture = try ClientFixture { request, index in
            switch index {
            case 0: [serviceError("503 Busy", "SlowDown", headers: ["Retry-After: 3"])]
            case 1: [.reset]
            default: [uploadResponse(content)]
            }
        }
        let progress = Mutex(0)
        _ = try await put(fixture) { count in progress.withLock { $0 += count } }
        #expect(progress.withLock { $0 } == content.count)
        #expect(fixture.server.requests.last?.body == content)
        #expect(fixture.recorder.throttles == [.seconds(3)])
        // The connection was used before, so its loss says nothing, and another is tried at once.
        #expect(fixture.recorder.pauses == [.milliseconds(3_100)])
        #expect(Set(fixture.server.requests.map(\.connection)).count == 2)
    }

    @Test func `an object without our token is not taken for what was sent`() async throws {
        let content = content
        // What is there has the same metadata and size, and nothing tells its content.
        let old = [
            "Content-Length: \(content.count)", "ETag: \"old\"", "x-oss-meta-app: x",
        ]
        let fixture = try ClientFixture { request, index in
            if request.method == "HEAD" { return [.response("200 OK", headers: old)] }
            return index == 0
                ? [serviceError("502 Bad", "BadGateway")] : [uploadResponse(content)]
        }
        let request = PutRequest(key: "k", userMetadata: [(name: "app", value: "x")])
        #expect(try await put(fixture, request).crc64 == CRC64(of: content))
        #expect(fixture.server.requests.map(\.method) == ["PUT", "PUT"])
    }

    @Test func `a failed upload leaves no progress`() async throws {
        let fixture = try ClientFixture { _, _ in [serviceError("403 No", "AccessDenied")] }
        let progress = Mutex(0)
        await #expect(throws: StorageError.self) {
            try await put(fixture) { count in progress.withLock { $0 += count } }
        }
        #expect(progress.withLock { $0 } == 0)
    }

    @Test func `a checksum that differs is tried again and then an error`() async throws {
        let fixture = try ClientFixture(attempts: 8) { _, _ in [uploadResponse([1])] }
        let error = await #expect(throws: StorageError.self) { try await put(fixture) }
        #expect(
            error?.kind
                == .integrity(
                    .wrongChecksum(sent: CRC64(of: content), received: CRC64(of: [1]))
                )
        )
        #expect(fixture.server.requests.count == 3)
    }

    @Test func `an ETag that differs counts where there is no checksum`() async throws {
        let wrong = "ETag: \"00000000000000000000000000000000\""
        let fixture = try ClientFixture { _, _ in [.response("200 OK", headers: [wrong])] }
        let error = await #expect(throws: StorageError.self) { try await put(fixture) }
        guard case .integrity(.wrongDigest) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        let key = "x-oss-server-side-encryption: KMS"
        let encrypted = try ClientFixture { _, _ in [.response("200 OK", headers: [wrong, key])] }
        _ = try await put(encrypted)
        let opaque = try ClientFixture { _, _ in [.response("200 OK", headers: ["ETag: \"x-2\""])] }
        #expect(try await put(opaque).etag == ETag(wire: "x-2"))
    }

    @Test func `a failed callback does not make the object fail`() async throws {
        let content = content
        let document =
            "<Error><Code>CallbackFailed</Code><Message>Error status : 301.</Message></Error>"
        let digest = hexadecimalText(Digest.md5(content))
        let fixture = try ClientFixture { _, _ in
            [
                .response(
                    "203 Non-Authoritative Information",
                    headers: ["ETag: \"\(digest)\""],
                    body: [UInt8](document.utf8)
                )
            ]
        }
        let callback = UploadCallback(parameters: "{\"callbackUrl\":\"h\"}", variables: "{}")
        let result = try await put(fixture, PutRequest(key: "k", callback: callback))
        #expect(result.callbackFailure == "Error status : 301.")
        #expect(result.callbackBody == nil)
        #expect(result.etag.md5Digest == digest)
        let seen = try #require(fixture.server.requests.first)
        #expect(seen["x-oss-callback"] == "eyJjYWxsYmFja1VybCI6ImgifQ==")
        #expect(seen["x-oss-callback-var"] == "e30=")
    }

    @Test func `a callback's answer is handed on`() async throws {
        let content = content
        let body = [UInt8]("{\"ok\":true}".utf8)
        let fixture = try ClientFixture { _, _ in
            [
                .response(
                    "200 OK",
                    headers: ["ETag: \"\(hexadecimalText(Digest.md5(content)))\""],
                    body: body
                )
            ]
        }
        let callback = UploadCallback(parameters: "{}")
        let result = try await put(fixture, PutRequest(key: "k", callback: callback))
        #expect(result.callbackBody == body)
    }

    @Test func `a part is sent and verified`() async throws {
        let content = content
        let fixture = try ClientFixture { _, index in
            [index == 0 ? uploadResponse([9]) : uploadResponse(content)]
        }
        let file = ScratchFile(content)
        let part = try await fixture.client.uploadPart(
            "k",
            UploadID("ID/+"),
            PartNumber(index: 1),
            body: .file(
                FileRegion(
                    descriptor: file.descriptor,
                    range: ByteRange(offset: 0, length: Int64(content.count))
                )
            ),
            onProgress: { _ in }
        )
        #expect(part.number.value == 2)
        #expect(part.size == Int64(content.count))
        #expect(part.crc64 == CRC64(of: content))
        #expect(fixture.server.requests.count == 2)
        #expect(
            fixture.server.requests.last?.target == "/bucket/k?partNumber=2&uploadId=ID%2F%2B"
        )
    }

    @Test func `a part is verified by its CRC-64, and by its MD5 where the store tells none`()
        async throws
    {
        let content = content
        let wrong = "ETag: \"00000000000000000000000000000000\""
        let right = "ETag: \"\(hexadecimalText(Digest.md5(content)))\""
        let answers = [
            // The first part is read again for its MD5, the second one has it from its sending.
            [wrong], [right], [wrong], [right],
            // The CRC-64 decides, whatever the ETag is.
            [wrong, "x-oss-hash-crc64ecma: \(CRC64(of: content).value)"],
            [right, "x-oss-hash-crc64ecma: 1"], [right],
        ]
        let fixture = try ClientFixture { _, index in
            [.response("200 OK", headers: index < answers.count ? answers[index] : [])]
        }
        let file = ScratchFile(content)
        let range = ByteRange(offset: 0, length: Int64(content.count))
        var counts: [Int] = []
        for index in 0..<4 {
            let part = try await fixture.client.uploadPart(
                "k",
                UploadID("U"),
                PartNumber(index: index),
                body: .file(FileRegion(descriptor: file.descriptor, range: range)),
                onProgress: { _ in }
            )
            #expect(part.crc64 == CRC64(of: content))
            counts.append(fixture.server.requests.count)
        }
        #expect(counts == [2, 4, 5, 7])
    }

    @Test func `a file that changed is not sent to its end`() async throws {
        let fixture = try ClientFixture { _, _ in [uploadResponse([])] }
        let content = ramp(2 << 20)
        let file = ScratchFile(content)
        let region = FileRegion(
            descriptor: file.descriptor,
            range: ByteRange(offset: 0, length: Int64(content.count)),
            isUnchanged: { _ in false }
        )
        let sent = Mutex(0)
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.put(
                PutRequest(key: "k"),
                body: .file(region),
                onProgress: { count in sent.withLock { $0 += count } }
            )
        }
        #expect(error?.kind == .integrity(.sourceChanged))
        #expect(sent.withLock { $0 } < content.count)
    }

    @Test func `a file that shrinks is not tried again`() async throws {
        let fixture = try ClientFixture { _, _ in [uploadResponse([])] }
        let file = ScratchFile(ramp(100))
        let region = FileRegion(
            descriptor: file.descriptor,
            range: ByteRange(offset: 50, length: 100)
        )
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.put(
                PutRequest(key: "k"),
                body: .file(region),
                onProgress: { _ in }
            )
        }
        #expect(error?.kind == .integrity(.sourceChanged))
        #expect(fixture.server.requests.count <= 1)
    }
}
