import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

@Suite("The S3 dialect", .timeLimit(.minutes(10)))
struct S3DialectTests {
    private let content = ramp(300_000)

    private func fixture(
        attempts: Int = 4,
        _ script: @escaping ScriptedServer.Script
    ) throws -> ClientFixture {
        try ClientFixture(attempts: attempts, dialect: .s3, script)
    }

    private func stored(_ body: [UInt8]) -> ScriptedAction {
        .response("200 OK", headers: ["ETag: \"\(hexadecimalText(Digest.md5(body)))\""])
    }

    @Test func `plain http carries the digest of the body`() async throws {
        let content = content
        let fixture = try fixture { _, _ in [self.stored(content)] }
        let file = ScratchFile(content)
        _ = try await fixture.client.put(
            PutRequest(key: "k"),
            body: .file(
                FileRegion(
                    descriptor: file.descriptor,
                    range: ByteRange(offset: 0, length: Int64(content.count))
                )
            ),
            onProgress: { _ in }
        )
        let seen = try #require(fixture.server.requests.first)
        #expect(seen["x-amz-content-sha256"] == hexadecimalText(Digest.sha256(content)))
        #expect(seen["authorization"]?.contains("AWS4-HMAC-SHA256 ") == true)
        #expect(seen.body == content)
    }

    @Test func `new and replaced objects are put on condition`() async throws {
        let fixture = try fixture { _, _ in [self.stored([])] }
        let put = { (request: PutRequest) in
            _ = try await fixture.client.put(request, body: .bytes([]), onProgress: { _ in })
        }
        try await put(PutRequest(key: "new", forbidsOverwrite: true))
        try await put(PutRequest(key: "old", replaced: ETag(wire: "\"a\"")))
        let seen = fixture.server.requests
        #expect(seen[0]["if-none-match"] == "*")
        #expect(seen[1]["if-match"] == "\"a\"")
        #expect(seen.allSatisfy { $0["x-amz-forbid-overwrite"] == nil })
    }

    /// Answers to a header that the service does not know.
    @Test(arguments: [
        ("501 Not Implemented", "NotImplemented", "words"),
        ("400 Bad Request", "InvalidArgument", "Unsupported header 'if-none-match' received"),
        ("400 Bad Request", "InvalidRequest", "If-None-Match is not supported"),
    ])
    func `a service without conditions is asked once`(
        status: String,
        code: String,
        message: String
    ) async throws {
        let fixture = try fixture { request, _ in
            request["if-none-match"] == nil
                ? [self.stored([])] : [serviceError(status, code, message: message)]
        }
        for key in ["a", "b"] {
            _ = try await fixture.client.put(
                PutRequest(key: ObjectKey(key), forbidsOverwrite: true),
                body: .bytes([]),
                onProgress: { _ in }
            )
        }
        #expect(fixture.server.requests.count == 3)
        let notices = fixture.recorder.observations.count {
            if case .conditionsUnsupported = $0 { true } else { false }
        }
        #expect(notices == 1)
    }

    @Test(arguments: ["InvalidArgument", "InvalidRequest", "MalformedXML"])
    func `a bad request for another cause is not sent without its condition`(
        code: String
    ) async throws {
        let fixture = try fixture { _, _ in
            [serviceError("400 Bad Request", code, message: "The storage class is invalid")]
        }
        await #expect(throws: StorageError.self) {
            try await fixture.client.put(
                PutRequest(key: "k", forbidsOverwrite: true),
                body: .bytes([]),
                onProgress: { _ in }
            )
        }
        #expect(fixture.server.requests.map { $0["if-none-match"] } == ["*"])
    }

    @Test func `what the store would not keep in a key is not sent`() async throws {
        let fixture = try ClientFixture(attempts: 1, dialect: .s3(.seaweedfs)) { _, _ in
            [self.stored([])]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.put(
                PutRequest(key: "a\\b"),
                body: .bytes([]),
                onProgress: { _ in }
            )
        }
        #expect(error?.message.contains("rename the file") == true)
        #expect(fixture.server.requests.isEmpty)
    }

    @Test(arguments: ["PutObject", "CompleteMultipartUpload"])
    func `a failed condition means that another writer was there`(operation: String) {
        let error = StorageError(
            kind: .service(status: 412, code: "PreconditionFailed"),
            operation: operation
        )
        #expect(error.isAlreadyExists)
        let read = StorageError(
            kind: .service(status: 412, code: "PreconditionFailed"),
            operation: "GetObject"
        )
        #expect(!read.isAlreadyExists)
    }

    @Test func `a race of two conditions is repeated`() async throws {
        let fixture = try fixture { _, number in
            number == 0
                ? [serviceError("409 Conflict", "ConditionalRequestConflict")] : [self.stored([])]
        }
        _ = try await fixture.client.put(
            PutRequest(key: "k", forbidsOverwrite: true),
            body: .bytes([]),
            onProgress: { _ in }
        )
        #expect(fixture.server.requests.count == 2)
    }

    @Test func `a completion is an error where its body says so, after blanks`() async throws {
        let body = "  \n\n<Error><Code>InternalError</Code><Message>No.</Message></Error>"
        let fixture = try fixture { _, _ in
            [.response("200 OK", headers: [], body: [UInt8](body.utf8))]
        }
        let part = UploadedPart(
            number: PartNumber(index: 0),
            size: 1,
            etag: ETag(wire: "a"),
            crc64: nil
        )
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.completeMultipartUpload(
                CompleteRequest(key: "k", upload: UploadID("u"), parts: [part])
            )
        }
        #expect(error?.serviceCode == "InternalError")
        #expect(error?.mayHaveReachedServer == true)
        #expect(fixture.server.requests.count == 1)
    }

    @Test func `a completion is read after blanks`() async throws {
        let body =
            "\n \n<?xml version=\"1.0\"?><CompleteMultipartUploadResult><Key>k</Key>"
            + "<ETag>\"a-1\"</ETag></CompleteMultipartUploadResult>"
        let fixture = try fixture { _, _ in
            [.response("200 OK", headers: [], body: [UInt8](body.utf8))]
        }
        let part = UploadedPart(
            number: PartNumber(index: 0),
            size: 1,
            etag: ETag(wire: "a"),
            crc64: nil
        )
        let result = try await fixture.client.completeMultipartUpload(
            CompleteRequest(
                key: "k",
                upload: UploadID("u"),
                parts: [part],
                replaced: ETag(wire: "b")
            )
        )
        #expect(result.etag.text == "a-1")
        let seen = try #require(fixture.server.requests.first)
        #expect(seen["if-match"] == "\"b\"")
        #expect(!seen.target.contains("encoding-type"))
    }

    @Test func `a request is signed again for the region of the bucket`() async throws {
        let fixture = try fixture { request, _ in
            guard request["authorization"]?.contains("/eu-west-3/s3/") != true else {
                return [.response("200 OK", headers: ["ETag: \"a\""])]
            }
            return [
                .response("400 Bad Request", headers: ["x-amz-bucket-region: eu-west-3"])
            ]
        }
        for _ in 0..<2 { _ = try? await fixture.client.head("k", versionID: nil) }
        let regions = fixture.server.requests.map {
            $0["authorization"]?.contains("/eu-west-3/s3/") == true
        }
        #expect(regions == [false, true, true])
    }

    /// Amazon names the bucket's region with every refusal.
    @Test(arguments: [
        ("cn-hangzhou", "Check the access key and its permissions"),
        ("eu-west-3", "The bucket is in the region 'eu-west-3'"),
    ])
    func `a refusal is explained by the region only if that is another one`(
        region: String,
        advice: String
    ) async throws {
        let fixture = try fixture { _, _ in
            [.response("403 Forbidden", headers: ["x-amz-bucket-region: \(region)"])]
        }
        let error = await #expect(throws: StorageError.self) {
            try await fixture.client.head("k", versionID: nil)
        }
        let expected = "HeadObject of 'k' failed: the service answered 403. " + advice
        #expect(error?.message.hasPrefix(expected) == true)
    }

    /// Without the size of parts, only a proof is lost: it is not worth a pause.
    @Test(arguments: [
        ("500 Internal Server Error", 2), ("503 Slow Down", 2), ("404 Not Found", 2),
        ("501 Not Implemented", 1), ("405 Method Not Allowed", 1),
    ])
    func `the size of parts is asked for once`(status: String, requests: Int) async throws {
        let fixture = try fixture { _, _ in [.response(status, body: [])] }
        for key in ["a", "b"] as [ObjectKey] {
            let size = try? await fixture.client.partSize(
                key,
                of: ETag(wire: "\"a\""),
                versionID: nil
            )
            #expect((size ?? nil) == nil)
        }
        let seen = fixture.server.requests
        #expect(seen.count == requests)
        #expect(seen.allSatisfy { $0.method == "HEAD" && $0.target.hasSuffix("?partNumber=1") })
        #expect(fixture.recorder.pauses.isEmpty)
        #expect(fixture.recorder.throttles.isEmpty)
    }

    @Test func `the size of parts is that of the first`() async throws {
        let fixture = try fixture { request, _ in
            let lines = ["ETag: \"a\"", "Content-Range: bytes 0-11/20", "Content-Length: 12"]
            let head = ["HTTP/1.1 206 Partial Content"] + lines
            return [.send([UInt8]((head.joined(separator: "\r\n") + "\r\n\r\n").utf8))]
        }
        let client = fixture.client
        #expect(try await client.partSize("k", of: ETag(wire: "\"a\""), versionID: nil) == 12)
        #expect(try await client.partSize("k", of: ETag(wire: "\"b\""), versionID: nil) == nil)
    }

    @Test func `metadata tell the checksum that the writer stored`() async throws {
        let fixture = try fixture { _, _ in
            [
                .response(
                    "200 OK",
                    headers: [
                        "ETag: \"a\"", "X-Amz-Meta-Osssync-Crc64: 77",
                        "x-amz-checksum-crc64nvme: rosUhgp5mIg=", "x-amz-checksum-sha256: abc-2",
                        "x-amz-checksum-crc32: y/Q5Jg==", "x-amz-checksum-crc32c: 4waSgw==",
                        "x-amz-checksum-sha1: 98O8HYCOBHMq32eZZczDTKeuNEE=",
                    ],
                    body: []
                )
            ]
        }
        let metadata = try await fixture.client.head("k", versionID: nil)
        #expect(metadata.crc64 == CRC64(value: 77))
        #expect(
            metadata.checksums == [
                "crc64nvme": "rosUhgp5mIg=", "crc32": "y/Q5Jg==", "crc32c": "4waSgw==",
                "sha1": "98O8HYCOBHMq32eZZczDTKeuNEE=",
            ]
        )
        #expect(!metadata.isEncrypted)
        #expect(fixture.server.requests.first?["x-amz-checksum-mode"] == "ENABLED")
    }

    @Test func `a range with the status of a whole object is taken if it says what it is`() throws {
        let expectation = ContentExpectation(
            range: ByteRange(offset: 5, length: 3),
            length: 3,
            etag: nil,
            totalSize: 10
        )
        let right = ResponseHead(
            status: 200,
            headers: [("content-range", "bytes 5-7/10"), ("content-length", "3")]
        )
        #expect(try expectation.validate(right) == 3)
        let wrong = ResponseHead(
            status: 200,
            headers: [("content-range", "bytes 0-9/10"), ("content-length", "10")]
        )
        #expect(throws: ContentFailure.self) { try expectation.validate(wrong) }
    }
}
