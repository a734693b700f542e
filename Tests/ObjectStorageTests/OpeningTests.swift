import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

/// Requests whose answers tell what the object is before there is a place for its bytes.
@Suite("Opening an object", .timeLimit(.minutes(10)))
struct OpeningTests {
    private let content = ramp(1_000_000)

    private func request(_ length: Int64?) -> GetRequest {
        GetRequest(
            key: "k",
            form: length.map { .bounded(ByteRange(offset: 0, length: $0)) },
            conditions: ReadConditions()
        )
    }

    /// Opens the object and writes what comes into `file`.
    private func open(
        _ fixture: ClientFixture,
        _ length: Int64?,
        _ file: ScratchFile
    ) async throws -> (metadata: ObjectMetadata, opened: [OpenedObject]) {
        let heads = Mutex<[OpenedObject]>([])
        let metadata = try await fixture.client.open(request(length)) { opened in
            heads.withLock { $0.append(opened) }
            return sink(file, length: Int(opened.range.length))
        }
        return (metadata, heads.withLock { $0 })
    }

    /// Answers ranges, cut at the object's end, as OSS and S3 do.
    private static func answer(
        _ content: [UInt8],
        _ request: ScriptedRequest,
        sending limit: Int = .max,
        etag: String = "\"E\""
    ) -> ScriptedAction {
        let bounds = request["range"]?.dropFirst("bytes=".count).split(separator: "-")
            .compactMap { Int($0) }
        let first = bounds?[0] ?? 0
        let last = min(bounds?[1] ?? .max, content.count - 1)
        let body = [UInt8](content[first...last])
        let status = bounds == nil ? "200 OK" : "206 Partial Content"
        let head = [
            "HTTP/1.1 " + status, "Content-Length: \(body.count)", "ETag: \(etag)",
            "x-oss-hash-crc64ecma: \(CRC64(of: content).value)",
            bounds == nil ? "x: y" : "Content-Range: bytes \(first)-\(last)/\(content.count)",
        ]
        return .send(
            [UInt8]((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body.prefix(limit)
        )
    }

    @Test(arguments: [Int64(400_000), 1_000_000, 8 << 20])
    func `the head comes before the bytes, which are a beginning or all`(
        length: Int64
    ) async throws {
        let content = content
        let fixture = try ClientFixture { request, _ in [Self.answer(content, request)] }
        let file = ScratchFile()
        let (metadata, heads) = try await open(fixture, length, file)
        let expected = min(1_000_000, length)
        #expect(heads.count == 1)
        #expect(heads.first?.range == ByteRange(offset: 0, length: expected))
        #expect(heads.first?.ignoresRanges == false)
        #expect(metadata == heads.first?.metadata)
        #expect(metadata.size == 1_000_000 && metadata.crc64 == CRC64(of: content))
        #expect(file.content == Array(content[..<Int(expected)]))
        let seen = fixture.server.requests
        #expect(seen.map(\.method) == ["GET"])
        #expect(seen.first?["range"] == "bytes=0-\(length - 1)")
        #expect(seen.first?["if-match"] == nil)
    }

    @Test func `a small object may come with the status of a whole one`() async throws {
        let content = content
        let fixture = try ClientFixture { _, _ in
            [.response("200 OK", headers: ["ETag: \"E\""], body: content)]
        }
        let file = ScratchFile()
        let (metadata, heads) = try await open(fixture, 8 << 20, file)
        #expect(heads.map(\.ignoresRanges) == [false])
        #expect(metadata.size == 1_000_000)
        #expect(file.content == content)
    }

    @Test func `a server without ranges sends all of it, which is not continued`() async throws {
        let content = content
        let fixture = try ClientFixture { _, index in
            index == 0
                ? [.response("200 OK", headers: ["ETag: \"E\""], body: content)]
                : [
                    .text("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nETag: \"E\"\r\n\r\nabc"),
                    .close,
                ]
        }
        let file = ScratchFile()
        let (metadata, heads) = try await open(fixture, 4_096, file)
        #expect(heads.map(\.ignoresRanges) == [true])
        #expect(heads.first?.range == ByteRange(offset: 0, length: 1_000_000))
        #expect(metadata.size == 1_000_000)
        #expect(file.content == content)
        await #expect(throws: StorageError.self) { try await open(fixture, 4_096, ScratchFile()) }
        #expect(fixture.server.requests.count == 2)
    }

    @Test func `what a broken connection brought is not fetched again`() async throws {
        let content = content
        let fixture = try ClientFixture { request, index in
            switch index {
            case 0: [.reset]
            case 1: [serviceError("503 Slow Down", "SlowDown")]
            case 2: [Self.answer(content, request, sending: 150_000), .close]
            default: [Self.answer(content, request)]
            }
        }
        let file = ScratchFile()
        let (_, heads) = try await open(fixture, 8 << 20, file)
        #expect(heads.count == 1)
        #expect(file.content == content)
        let seen = fixture.server.requests
        #expect(seen.count == 4)
        #expect(seen.prefix(3).allSatisfy { $0["if-match"] == nil })
        #expect(seen.last?["range"] == "bytes=150000-999999")
        #expect(seen.last?["if-match"] == "\"E\"")
    }

    @Test func `a version that is named by a weak tag is not continued`() async throws {
        let content = content
        let fixture = try ClientFixture { request, _ in
            [Self.answer(content, request, sending: 150_000, etag: "W/\"E\""), .close]
        }
        await #expect(throws: StorageError.self) { try await open(fixture, 8 << 20, ScratchFile()) }
        #expect(fixture.server.requests.count == 1)
    }

    @Test func `a connection that is lost before there is a place for its bytes is made again`()
        async throws
    {
        let content = content
        let fixture = try ClientFixture { request, index in
            index == 0
                ? [Self.answer(content, request, sending: 0), .reset]
                : [Self.answer(content, request)]
        }
        let file = ScratchFile()
        let (_, heads) = try await open(fixture, 8 << 20, file)
        #expect(heads.count == 1)
        #expect(file.content == content)
    }

    @Test func `a body that is not wanted ends its exchange`() async throws {
        let content = content
        let fixture = try ClientFixture { request, _ in
            [Self.answer(content, request, sending: 10), .stall]
        }
        let metadata = try await fixture.client.open(request(8 << 20)) { _ in nil }
        #expect(metadata.size == 1_000_000)
    }

    @Test(arguments: [
        "206 Partial Content|Content-Range: bytes 5-9/10|Content-Length: 5",
        "206 Partial Content|Content-Range: bytes 0-4/*|Content-Length: 5",
        "206 Partial Content|Content-Range: bytes 0-4/10|Content-Length: 5",
        "206 Partial Content|Content-Length: 5", "200 OK|Transfer-Encoding: chunked",
        "204 No Content|Content-Length: 0",
    ])
    func `an answer that does not say what it brings is an error`(head: String) async throws {
        let lines = head.split(separator: "|").joined(separator: "\r\n")
        let fixture = try ClientFixture(attempts: 1) { _, _ in
            [.text("HTTP/1.1 \(lines)\r\nETag: \"E\"\r\n\r\n12345"), .close]
        }
        let isAsked = Mutex(false)
        await #expect(throws: StorageError.self) {
            try await fixture.client.open(request(8)) { _ in
                isAsked.withLock { $0 = true }
                return nil
            }
        }
        #expect(!isAsked.withLock { $0 })
    }
}
