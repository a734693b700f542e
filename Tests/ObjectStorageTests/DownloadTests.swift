import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

/// Answers ranges of `content` as OSS does.
func objectResponse(
    _ content: [UInt8],
    _ request: ScriptedRequest,
    etag: String = "E",
    headers: [String] = [],
    sending limit: Int = Int.max
) -> ScriptedAction {
    var lines = ["ETag: \"\(etag)\"", "x-oss-hash-crc64ecma: \(CRC64(of: content).value)"]
    lines += headers
    var body = content
    var status = "200 OK"
    if let range = request["range"] {
        let bounds = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
        let end = min(bounds[1], content.count - 1)
        body = [UInt8](content[bounds[0]...end])
        status = "206 Partial Content"
        lines.append("Content-Range: bytes \(bounds[0])-\(end)/\(content.count)")
    }
    let head = ["HTTP/1.1 " + status, "Content-Length: \(body.count)"] + lines
    return .send(
        [UInt8]((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body.prefix(limit)
    )
}

@Suite("Downloads", .timeLimit(.minutes(10)))
struct DownloadTests {
    private let content = ramp(1_000_000)
    private let etag = ETag(wire: "E")

    @Test(.enabled(if: usesLibcurl))
    func `a range goes to its place, with all that guards it`() async throws {
        let content = content
        let fixture = try ClientFixture { request, _ in [objectResponse(content, request)] }
        let file = ScratchFile(ramp(10))
        let sink = sink(file, length: 500_000, offset: 10)
        let metadata = try await fixture.client.get(
            GetRequest(
                key: "a b/é",
                range: ByteRange(offset: 300_000, length: 500_000),
                ifMatch: etag,
                versionID: VersionID("v+1")
            ),
            into: sink
        )
        #expect(metadata.size == 1_000_000)
        #expect(metadata.etag == etag)
        #expect(metadata.crc64 == CRC64(of: content))
        #expect(file.content == ramp(10) + content[300_000..<800_000])
        let seen = try #require(fixture.server.requests.first)
        #expect(seen.target == "/bucket/a%20b/%C3%A9?versionId=v%2B1")
        #expect(seen["range"] == "bytes=300000-799999")
        #expect(seen["if-match"] == "\"E\"")
        #expect(seen["x-oss-range-behavior"] == "standard")
        #expect(seen["accept-encoding"] == nil)
        #expect(seen["authorization"]?.hasPrefix("OSS4-HMAC-SHA256 Credential=key-id/") == true)
        #expect(seen["user-agent"] == "osssync-test")
    }

    @Test func `what a broken connection brought is not fetched again`() async throws {
        let content = content
        let fixture = try ClientFixture(attempts: 2) { request, index in
            // Six breaks with only two attempts each: every one brought something.
            index < 6
                ? [objectResponse(content, request, sending: 150_000), .close]
                : [objectResponse(content, request)]
        }
        let file = ScratchFile()
        let progress = Mutex(0)
        let sink = sink(
            file,
            length: content.count,
            onProgress: { count in progress.withLock { $0 += count } }
        )
        _ = try await fixture.client.get(GetRequest(key: "k", ifMatch: etag), into: sink)
        #expect(file.content == content)
        #expect(sink.checksum == CRC64(of: content))
        #expect(progress.withLock { $0 } == content.count)
        let ranges = fixture.server.requests.map { $0["range"] ?? "" }
        #expect(ranges.first == "")
        #expect(
            ranges.dropFirst() == (1...6).map { "bytes=\($0 * 150_000)-999999" }[...]
        )
        #expect(fixture.recorder.pauses.count == 6)
    }

    @Test func `attempts that bring nothing are bounded`() async throws {
        let fixture = try ClientFixture(attempts: 3) { _, _ in [.reset] }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.get(
                GetRequest(key: "k", ifMatch: etag),
                into: sink(ScratchFile(), length: 10)
            )
        }
        #expect(error?.kind == .transport(.connectionLost))
        #expect(fixture.server.requests.count == 3)
        #expect(fixture.recorder.pauses == [.milliseconds(100), .milliseconds(200)])
    }

    @Test func `the run's budget ends repetitions`() async throws {
        let fixture = try ClientFixture(attempts: 8, runBudget: 3) { _, _ in [.reset] }
        for _ in 0..<3 {
            await #expect(throws: StorageError.self) {
                try await fixture.client.head("k", versionID: nil)
            }
        }
        #expect(fixture.server.requests.count == 3 + 3)
    }

    @Test func `a later attempt must be of the same version`() async throws {
        let content = content
        let fixture = try ClientFixture { request, index in
            index == 0
                ? [objectResponse(content, request, sending: 1_000), .close]
                : [objectResponse(content, request, etag: "F")]
        }
        let file = ScratchFile()
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.get(
                GetRequest(key: "k"),
                into: sink(file, length: content.count)
            )
        }
        #expect(
            error?.kind
                == .integrity(.objectChanged(expected: etag, found: ETag(wire: "F")))
        )
        #expect(error?.isPreconditionFailed == true)
        #expect(fixture.server.requests.last?["if-match"] == "\"E\"")
        #expect(file.content.count == 1_000)
    }

    @Test func `a changed object is reported at once`() async throws {
        let fixture = try ClientFixture { _, _ in
            [serviceError("412 Precondition Failed", "PreconditionFailed")]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.get(
                GetRequest(key: "k", ifMatch: etag),
                into: sink(ScratchFile(), length: 10)
            )
        }
        #expect(error?.isPreconditionFailed == true)
        #expect(error?.requestID == "ID")
        #expect(fixture.server.requests.count == 1)
    }

    @Test func `a range of an object of another size is not taken`() async throws {
        let content = content
        let fixture = try ClientFixture { request, _ in [objectResponse(content, request)] }
        let file = ScratchFile()
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.get(
                GetRequest(
                    key: "k",
                    range: ByteRange(offset: 0, length: 1_000),
                    ifMatch: etag,
                    totalSize: 1_000
                ),
                into: sink(file, length: 1_000)
            )
        }
        #expect(error?.kind == .integrity(.otherSize(expected: 1_000, found: 1_000_000)))
        #expect(error?.retryClass == .objectChanged)
        #expect(file.content.isEmpty)
    }

    @Test func `an ignored range is never written at its offset`() async throws {
        let content = content
        let fixture = try ClientFixture { _, _ in
            [.response("200 OK", headers: ["ETag: \"E\""], body: content)]
        }
        let file = ScratchFile()
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.get(
                GetRequest(
                    key: "k",
                    range: ByteRange(offset: 500, length: 1_000),
                    ifMatch: etag
                ),
                into: sink(file, length: 1_000)
            )
        }
        #expect(error?.kind == .integrity(.rangeIgnored))
        #expect(fixture.server.requests.count == 2)
        #expect(file.content.isEmpty)
    }

    @Test func `an empty object is fetched without a range`() async throws {
        let fixture = try ClientFixture { request, _ in [objectResponse([], request)] }
        let metadata = try await fixture.client.get(
            GetRequest(key: "k", ifMatch: etag),
            into: sink(ScratchFile(), length: 0)
        )
        #expect(metadata.size == 0)
        #expect(fixture.server.requests.first?["range"] == nil)
    }

    @Test func `content that looks like an error stays content`() async throws {
        let content = [UInt8]("<Error><Code>InternalError</Code></Error>".utf8)
        let fixture = try ClientFixture { request, _ in [objectResponse(content, request)] }
        let file = ScratchFile()
        _ = try await fixture.client.get(
            GetRequest(key: "k"),
            into: sink(file, length: content.count)
        )
        #expect(file.content == content)
    }

    @Test func `a stale answer is asked for again past the cache`() async throws {
        let content = ramp(10)
        let fixture = try ClientFixture { request, index in
            index == 0
                ? [.text("HTTP/1.1 304 Not Modified\r\n\r\n")] : [objectResponse(content, request)]
        }
        _ = try await fixture.client.get(
            GetRequest(key: "k"),
            into: sink(ScratchFile(), length: content.count)
        )
        #expect(fixture.server.requests.map { $0["cache-control"] } == [nil, "no-cache"])
    }

    @Test func `a full disk is not tried again`() async throws {
        let fixture = try ClientFixture { request, _ in [objectResponse(ramp(10), request)] }
        let sink = FileSink(
            descriptor: -1,
            fileOffset: 0,
            expectedLength: 10,
            initialChecksum: CRC64(),
            checkpointInterval: 1,
            maximumUnacknowledged: 100,
            onCheckpoint: { _, _ in },
            onProgress: { _ in }
        )
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.get(GetRequest(key: "k"), into: sink)
        }
        #expect(error?.kind == .localIO(errno: 9, call: "pwrite"))
        #expect(fixture.server.requests.count == 1)
    }

    @Test func `a small body is read whole and verified`() async throws {
        let content = ramp(1_000)
        let fixture = try ClientFixture { request, index in
            index == 0
                ? [
                    .response(
                        "200 OK",
                        headers: ["x-oss-hash-crc64ecma: \(CRC64(of: content).value)"],
                        body: ramp(999) + [0]
                    )
                ]
                : [objectResponse(content, request)]
        }
        let (metadata, bytes) = try await fixture.client.read(GetRequest(key: "k"), limit: 1_000)
        #expect(bytes == content)
        #expect(metadata.size == 1_000)
        let part = try await fixture.client.read(
            GetRequest(key: "k", range: ByteRange(offset: 10, length: 5)),
            limit: 5
        )
        #expect(part.bytes == [UInt8](content[10..<15]))
        #expect(part.metadata.size == 1_000)
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.read(GetRequest(key: "k"), limit: 999)
        }
        #expect(error?.kind == .invalidRequest("the object is larger than 999 bytes"))
    }

    @Test func `cancellation ends the pause between attempts`() async throws {
        let fixture = try ClientFixture { _, _ in [serviceError("500 Oops", "InternalError")] }
        await withTaskGroup(of: Bool.self) { group in
            group.cancelAll()
            group.addTask {
                do throws(StorageError) {
                    _ = try await fixture.client.head("k", versionID: nil)
                    return false
                } catch {
                    return error.isCancelled
                }
            }
            #expect(await group.next() == true)
        }
    }
}
