import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("Replacing objects", .timeLimit(.minutes(10)))
struct ReplacingTests {
    private let content = ramp(3_000)
    private let tag = "0123456789ABCDEF0123456789ABCDEF"

    private var request: PutRequest {
        var request = PutRequest(
            key: "k",
            contentType: "text/plain",
            userMetadata: [(name: "osssync-upload", value: "t"), (name: "mtime", value: "2")],
            replaced: ETag(wire: tag)
        )
        request.keepsMetadata = true
        return request
    }

    private func put(_ fixture: ClientFixture) async throws(StorageError) {
        _ = try await fixture.client.put(request, body: .bytes(content), onProgress: { _ in })
    }

    private func fixture(
        attempts: Int = 4,
        dialect: StorageDialect = .oss,
        head: @escaping @Sendable (Int) -> ScriptedAction
    ) throws -> ClientFixture {
        let (content, count) = (content, CallCount())
        return try ClientFixture(attempts: attempts, dialect: dialect) { request, _ in
            request.method == "HEAD" ? [head(count.next())] : [uploadResponse(content)]
        }
    }

    private final class CallCount: Sendable {
        private let count = Mutex(0)
        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }

    private func found(_ tag: String, _ headers: [String] = []) -> ScriptedAction {
        .response("200 OK", headers: ["ETag: \"\(tag)\""] + headers)
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `the version to be replaced is looked at right before it is`(
        dialect: StorageDialect
    ) async throws {
        let fixture = try fixture(dialect: dialect) { _ in self.found(self.tag) }
        try await put(fixture)
        #expect(fixture.server.requests.map(\.method) == ["HEAD", "PUT"])
    }

    /// Between attempts, another machine may have taken the mirror over.
    @Test(arguments: [1, 2])
    func `an attempt that is not permitted is not made`(permitted: Int) async throws {
        let count = CallCount()
        let fixture = try ClientFixture(attempts: 4, dialect: .oss) { request, _ in
            request.method == "HEAD"
                ? [self.found(self.tag)] : [.response("503 Service Unavailable")]
        }
        let refusal = StorageError(kind: .cancelled, operation: "PutObject", key: "k")
        let permission = RequestPermission(else: refusal) { count.next() <= permitted }
        await #expect {
            try await RequestPermission.$current.withValue(permission) { try await put(fixture) }
        } throws: { error in
            // The answer to the first attempt does not say that nothing was done.
            (error as? StorageError)?.isCancelled == true
        }
        #expect(fixture.server.requests.count { $0.method == "PUT" } == permitted)
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `another version is not replaced, nor made again where there is none`(
        dialect: StorageDialect
    ) async throws {
        for answer in [found("another"), .response("404 Not Found", headers: [])] {
            let fixture = try fixture(dialect: dialect) { _ in answer }
            let error = await #expect(throws: StorageError.self) { try await put(fixture) }
            #expect(error?.isAlreadyExists == true)
            #expect(fixture.server.requests.map(\.method) == ["HEAD"])
        }
    }

    @Test func `each try looks again`() async throws {
        let content = content
        let fixture = try ClientFixture { request, index in
            switch index {
            case 0: [self.found(self.tag)]
            case 1: [serviceError("503 Busy", "SlowDown")]
            default: request.method == "HEAD" ? [self.found("new")] : [uploadResponse(content)]
            }
        }
        let error = await #expect(throws: StorageError.self) { try await put(fixture) }
        #expect(error?.isAlreadyExists == true)
        #expect(fixture.server.requests.map(\.method) == ["HEAD", "PUT", "HEAD"])
    }

    @Test func `a look that fails is repeated, and is no lost answer to the write`() async throws {
        let fixture = try fixture { number in
            number < 3 ? serviceError("500 No", "InternalError") : self.found(self.tag)
        }
        try await put(fixture)
        #expect(fixture.server.requests.map(\.method) == ["HEAD", "HEAD", "HEAD", "PUT"])
    }

    /// What is found beneath our token, after a write whose answer was lost or refused.
    private func kept(_ content: [UInt8], size: Int) -> ScriptedAction {
        let tag = hexadecimalText(Digest.md5(content)).uppercased()
        let lines = [
            "HTTP/1.1 200 OK", "Content-Length: \(size)", "ETag: \"\(tag)\"",
            "x-oss-meta-osssync-upload: t", "x-amz-meta-osssync-upload: t",
            "x-oss-hash-crc64ecma: \(CRC64(of: content).value)",
        ]
        return .text(lines.joined(separator: "\r\n") + "\r\n\r\n")
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `what another writer put with our metadata is neither taken for ours nor replaced`(
        dialect: StorageDialect
    ) async throws {
        for size in [content.count, 5] {
            let fixture = try ClientFixture(dialect: dialect) { request, index in
                switch index {
                case 0: [self.found(self.tag)]
                case 1: [serviceError("502 Bad", "BadGateway")]
                default:
                    request.method == "HEAD"
                        ? [self.kept(ramp(size).reversed(), size: size)]
                        : [serviceError("412 No", "PreconditionFailed")]
                }
            }
            let error = await #expect(throws: StorageError.self) { try await put(fixture) }
            #expect(error?.isAlreadyExists == true)
            let last = try #require(fixture.server.requests.last { $0.method == "PUT" })
            #expect(last["if-match"] == (dialect == .s3 ? "\"\(tag)\"" : nil))
            let puts = fixture.server.requests.count { $0.method == "PUT" }
            #expect(puts == (dialect == .s3 ? 2 : 1))
        }
    }

    @Test(arguments: [StorageDialect.oss, .s3])
    func `an object of ours that arrived damaged is replaced by the next try`(
        dialect: StorageDialect
    ) async throws {
        let content = content
        let damaged = [UInt8](content.reversed())
        let fixture = try ClientFixture(dialect: dialect) { request, index in
            switch index {
            case 0: [self.found(self.tag)]
            case 1: [uploadResponse(damaged)]
            default:
                request.method == "HEAD"
                    ? [self.kept(damaged, size: content.count)] : [uploadResponse(content)]
            }
        }
        try await put(fixture)
        #expect(fixture.server.requests.count { $0.method == "PUT" } == 2)
    }

    @Test func `a completion is repeated if only its look failed`() async throws {
        let fixture = try ClientFixture { request, index in
            guard request.method == "HEAD" else {
                let body =
                    "<CompleteMultipartUploadResult><ETag>\"A\"</ETag>"
                    + "</CompleteMultipartUploadResult>"
                return [.response("200 OK", headers: [], body: [UInt8](body.utf8))]
            }
            return [index == 0 ? .reset : self.found(self.tag)]
        }
        let part = UploadedPart(
            number: PartNumber(index: 0),
            size: 5,
            etag: ETag(wire: "p"),
            crc64: nil
        )
        _ = try await fixture.client.completeMultipartUpload(
            CompleteRequest(
                key: "k",
                upload: UploadID("u"),
                parts: [part],
                replaced: ETag(wire: tag)
            )
        )
        #expect(fixture.server.requests.map(\.method) == ["HEAD", "HEAD", "POST"])
    }

    @Test func `what other tools put on the object goes with the new version`() async throws {
        let fixture = try fixture { _ in
            self.found(
                self.tag,
                [
                    "Content-Type: text/x-own", "Content-Encoding: gzip", "Cache-Control: no-cache",
                    "Content-Disposition: attachment; filename=\"a\"", "Content-Language: de",
                    "Expires: 0", "x-oss-storage-class: IA", "x-oss-meta-owner: somebody",
                    "x-oss-meta-mtime: 1", "x-oss-meta-osssync-upload: old",
                    "x-oss-meta-osssync-crc64: 1", "x-oss-meta-md5chksum: AAAA",
                    "x-oss-meta-bad: b\u{fc}",
                    "x-oss-meta-long: \(String(repeating: "x", count: 9_000))",
                ]
            )
        }
        try await put(fixture)
        let sent = try #require(fixture.server.requests.last)
        #expect(sent["content-type"] == "text/x-own")
        #expect(sent["content-encoding"] == "gzip")
        #expect(sent["cache-control"] == "no-cache")
        #expect(sent["content-disposition"] == "attachment; filename=\"a\"")
        #expect(sent["content-language"] == "de")
        #expect(sent["expires"] == "0")
        #expect(sent["x-oss-storage-class"] == "IA")
        #expect(sent["x-oss-meta-owner"] == "somebody")
        #expect(sent["x-oss-meta-mtime"] == "2")
        #expect(sent["x-oss-meta-osssync-upload"] == "t")
        for name in ["osssync-crc64", "md5chksum", "bad", "long"] {
            #expect(sent["x-oss-meta-" + name] == nil)
        }
        let leftOut = fixture.recorder.observations.count {
            if case .metadataLeftOut("k") = $0 { true } else { false }
        }
        #expect(leftOut == 1)
    }

    @Test func `metadata grow no further than the store takes them`() throws {
        for dialect in [StorageDialect.oss, .s3] {
            var metadata = ObjectMetadata(size: 1, etag: nil)
            for number in 0..<200 {
                metadata.userMetadata["name-\(number)"] = String(repeating: "v", count: 100)
            }
            var headers = [(dialect.header("meta-mtime"), "1")]
            #expect(!dialect.keep(metadata, in: &headers, keepsType: true))
            let size = headers.reduce(0) { $0 + $1.0.utf8.count - 11 + $1.1.utf8.count }
            #expect(size <= (dialect == .oss ? 8_192 : 2_048))
            #expect(size > (dialect == .oss ? 7_000 : 1_800))
        }
    }

    @Test func `what a store adds to its answers is not put on the object`() throws {
        let head = ResponseHead(
            status: 200,
            headers: [
                ("content-disposition", "attachment"), ("x-oss-force-download", "true"),
                ("content-encoding", "aws-chunked, gzip"), ("x-amz-storage-class", "TIER-2"),
            ]
        )
        let oss = ObjectMetadata(head, size: 1, dialect: .oss)
        #expect(oss.contentHeaders == ["content-encoding": "gzip"])
        var headers: [(String, String)] = []
        let metadata = ObjectMetadata(head, size: 1, dialect: .s3)
        #expect(StorageDialect.s3.keep(metadata, in: &headers, keepsType: true))
        #expect(!headers.contains { $0.0 == "x-amz-storage-class" })
    }

    @Test(arguments: ["Archive", "ColdArchive", "GLACIER", "DEEP_ARCHIVE", "IA", "GLACIER_IR"])
    func `a class whose objects cannot be read at once is not kept`(name: String) {
        for dialect in [StorageDialect.oss, .s3] {
            let field = (dialect.header("storage-class"), name)
            let head = ResponseHead(status: 200, headers: [field])
            var headers: [(String, String)] = []
            let metadata = ObjectMetadata(head, size: 1, dialect: dialect)
            #expect(dialect.keep(metadata, in: &headers, keepsType: true))
            let kept = dialect == .oss ? "IA" : "GLACIER_IR"
            #expect(headers.contains { $0.0 == field.0 } == (name == kept))
        }
    }
}
