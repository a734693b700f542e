import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectStorage

/// Objects that are stored with a `Content-Encoding`, which libcurl leaves alone and URLSession
/// decodes, whatever was asked for.
@Suite("Objects that are stored encoded", .timeLimit(.minutes(10)))
struct EncodedObjectTests {
    /// What gzip makes of forty greetings.
    static let packed: [UInt8] = [
        31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 87, 200, 24, 49, 36, 0, 158, 80,
        148, 125, 240, 0, 0, 0,
    ]

    private static func isAskedPlain(_ request: ScriptedRequest) -> Bool {
        request.target.contains("response-content-encoding=identity")
    }

    /// Answers as OSS and S3 do.
    private static func answer(_ request: ScriptedRequest) -> ScriptedAction {
        let coding = isAskedPlain(request) ? "identity" : "gzip"
        return objectResponse(packed, request, headers: ["Content-Encoding: \(coding)"])
    }

    @Test func `come as they are stored`() async throws {
        let fixture = try ClientFixture { request, _ in [Self.answer(request)] }
        for start in [0, 10] {
            let sink = FileSink(holding: 10) { _ in }
            let metadata = try await fixture.client.get(
                GetRequest(
                    key: "page.gz",
                    range: ByteRange(offset: Int64(start), length: 10),
                    ifMatch: ETag(wire: "E")
                ),
                into: sink
            )
            #expect(sink.checksum == CRC64(of: Array(Self.packed[start..<start + 10])))
            #expect(metadata.contentHeaders["content-encoding"] == "gzip")
        }
        // The second range is asked for in the right way at once.
        #expect(fixture.server.requests.count == (usesLibcurl ? 2 : 3))
        let read = try await fixture.client.read(GetRequest(key: "other.gz"), limit: 100)
        #expect(read.bytes == Self.packed)
        #expect(read.metadata.contentHeaders["content-encoding"] == "gzip")
        #expect(fixture.recorder.pauses.isEmpty)
    }

    @Test(.enabled(if: !usesLibcurl))
    func `and named so in any case are refused once, with what to do`() async throws {
        let fixture = try ClientFixture { request, _ in
            [objectResponse(Self.packed, request, headers: ["Content-Encoding: gzip"])]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.read(GetRequest(key: "page.gz"), limit: 100)
        }
        #expect(
            error?.message
                == "GetObject of 'page.gz' failed: the object is stored with Content-Encoding "
                + "'gzip', which URLSession decodes; store it without"
        )
        #expect(error?.retryClass == .never)
        #expect(fixture.server.requests.map(Self.isAskedPlain) == [false, true])
    }

    @Test func `and refused are an answer like any other`() async throws {
        let fixture = try ClientFixture { _, _ in
            [
                .response(
                    "404 Not Found",
                    headers: usesLibcurl ? [] : ["Content-Encoding: gzip"],
                    body: usesLibcurl ? [] : Self.packed
                )
            ]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.read(GetRequest(key: "page.gz"), limit: 100)
        }
        #expect(error?.status == 404)
        #expect(fixture.server.requests.count == 1)
    }

    /// A word that is no coding changes nothing.
    @Test func `with a word that is no coding come as they are`() async throws {
        let fixture = try ClientFixture { request, _ in
            [objectResponse(Self.packed, request, headers: ["Content-Encoding: identity"])]
        }
        let read = try await fixture.client.read(GetRequest(key: "page"), limit: 100)
        #expect(read.bytes == Self.packed)
        #expect(fixture.server.requests.count == 1)
    }
}
