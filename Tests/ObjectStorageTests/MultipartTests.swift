import SyncModel
import SyncTestSupport
import Testing

@testable import ObjectStorage

@Suite("Multipart uploads", .timeLimit(.minutes(10)))
struct MultipartTests {
    private let parts = [
        UploadedPart(number: PartNumber(index: 0), size: 5, etag: ETag(wire: "A"), crc64: nil),
        UploadedPart(number: PartNumber(index: 2), size: 3, etag: ETag(wire: "B"), crc64: nil),
    ]
    private static let result =
        "<CompleteMultipartUploadResult><Key>k</Key><ETag>\"C-2\"</ETag>"
        + "</CompleteMultipartUploadResult>"

    private func complete(_ fixture: ClientFixture) async throws -> PutResult {
        try await fixture.client.completeMultipartUpload(
            CompleteRequest(key: "k", upload: UploadID("U"), parts: parts)
        )
    }

    @Test func `an upload is begun and ended`() async throws {
        let fixture = try ClientFixture { request, _ in
            switch request.method {
            case "POST" where request.target.contains("uploads"):
                let document =
                    "<InitiateMultipartUploadResult><EncodingType>url</EncodingType>"
                    + "<Key>k%2Fa</Key><UploadId>U</UploadId></InitiateMultipartUploadResult>"
                return [.response("200 OK", body: [UInt8](document.utf8))]
            case "POST":
                return [
                    .response(
                        "200 OK",
                        headers: ["x-oss-hash-crc64ecma: 77"],
                        body: [UInt8](Self.result.utf8)
                    )
                ]
            default: return [serviceError("404 Not Found", "NoSuchUpload")]
            }
        }
        let upload = try await fixture.client.initiateMultipartUpload(
            PutRequest(key: "k/a", contentType: "a/b")
        )
        #expect(upload == UploadID("U"))
        let result = try await complete(fixture)
        #expect(result.etag == ETag(wire: "C-2"))
        #expect(result.crc64 == CRC64(value: 77))
        try await fixture.client.abortMultipartUpload("k", upload)
        let seen = fixture.server.requests
        #expect(seen[0].target == "/bucket/k/a?uploads&encoding-type=url")
        #expect(seen[0]["content-type"] == "a/b")
        #expect(seen[1]["content-type"] == "application/xml")
        #expect(
            String(decoding: seen[1].body, as: UTF8.self).contains(
                "<Part><PartNumber>3</PartNumber><ETag>\"B\"</ETag></Part>"
            )
        )
    }

    @Test(arguments: [ScriptedAction.reset, .close, serviceError("500 Oops", "InternalError")])
    func `a lost answer to the end is not asked for again`(action: ScriptedAction) async throws {
        let fixture = try ClientFixture { _, index in
            index == 0 ? [.response("200 OK", headers: ["ETag: \"E\""])] : [action]
        }
        // A first request, so that the connection is one that was used before.
        _ = try await fixture.client.head("k", versionID: nil)
        let error = await #expect(throws: StorageError.self) { try await complete(fixture) }
        #expect(error?.mayHaveReachedServer == true)
        #expect(fixture.server.requests.count == 2)
    }

    @Test func `an end that was refused for the load is asked for again`() async throws {
        let fixture = try ClientFixture { _, index in
            [
                index == 0
                    ? serviceError("503 Busy", "ServiceUnavailable")
                    : .response("200 OK", body: [UInt8](Self.result.utf8))
            ]
        }
        #expect(try await complete(fixture).etag == ETag(wire: "C-2"))
    }

    @Test func `an error with status 200 is an error`() async throws {
        let fixture = try ClientFixture { _, _ in [serviceError("200 OK", "InternalError")] }
        let error = await #expect(throws: StorageError.self) { try await complete(fixture) }
        #expect(error?.kind == .service(status: 200, code: "InternalError"))
        let copy = await #expect(throws: StorageError.self) {
            try await fixture.client.copy(CopyRequest(source: "a", destination: "b"))
        }
        #expect(copy?.serviceCode == "InternalError")
        #expect(fixture.server.requests.count == 1 + 4)
    }

    @Test func `parts out of order are not sent`() async throws {
        let fixture = try ClientFixture { _, _ in [.close] }
        for parts in [[], [parts[1], parts[0]], [parts[0], parts[0]]] {
            await #expect(throws: StorageError.self) {
                try await fixture.client.completeMultipartUpload(
                    CompleteRequest(key: "k", upload: UploadID("U"), parts: parts)
                )
            }
        }
        #expect(fixture.server.requests.isEmpty)
    }

    @Test func `a copy names its source and its version`() async throws {
        let fixture = try ClientFixture { request, _ in
            let name = request.target.contains("partNumber") ? "CopyPartResult" : "CopyObjectResult"
            return [
                .response("200 OK", body: [UInt8]("<\(name)><ETag>\"C\"</ETag></\(name)>".utf8))
            ]
        }
        _ = try await fixture.client.copy(
            CopyRequest(
                source: "a b/c",
                sourceETag: ETag(wire: "S"),
                destination: "d",
                userMetadata: [(name: "x", value: "y")],
                forbidsOverwrite: true
            )
        )
        let part = try await fixture.client.uploadPartCopy(
            PartCopyRequest(
                source: "s",
                sourceRange: ByteRange(offset: 5, length: 6),
                destination: "d",
                upload: UploadID("U"),
                number: PartNumber(index: 0)
            )
        )
        #expect(part.size == 6)
        let seen = fixture.server.requests
        #expect(seen[0]["x-oss-copy-source"] == "/bucket/a%20b/c")
        #expect(seen[0]["x-oss-copy-source-if-match"] == "\"S\"")
        #expect(seen[0]["x-oss-metadata-directive"] == "REPLACE")
        #expect(seen[0]["x-oss-meta-x"] == "y")
        #expect(seen[0]["x-oss-forbid-overwrite"] == "true")
        #expect(seen[0]["content-length"] == "0")
        #expect(seen[1]["x-oss-copy-source-range"] == "bytes=5-10")
    }

    @Test func `a listing of parts must advance`() async throws {
        let page =
            "<ListPartsResult><IsTruncated>true</IsTruncated>"
            + "<NextPartNumberMarker>1</NextPartNumberMarker><Part><PartNumber>1</PartNumber>"
            + "<ETag>\"A\"</ETag><Size>5</Size></Part></ListPartsResult>"
        let fixture = try ClientFixture(attempts: 1) { _, _ in
            [.response("200 OK", body: [UInt8](page.utf8))]
        }
        let first = try await fixture.client.listParts("k", UploadID("U"), after: nil)
        #expect(first.next == PartNumber(index: 0))
        await #expect(throws: StorageError.self) {
            try await fixture.client.listParts("k", UploadID("U"), after: first.next)
        }
    }
}
