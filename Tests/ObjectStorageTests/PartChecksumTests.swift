import SyncModel
import SyncTestSupport
import Synchronization
import Testing

@testable import ObjectStorage

/// Parts that are proven by their CRC-32C, where the store compares it.
@Suite("Checksums of parts", .timeLimit(.minutes(10)))
struct PartChecksumTests {
    /// What the store does with the checksums of parts.
    private enum Store: Sendable, CaseIterable {
        case compares
        /// It repeats what it is told.
        case believes
        case ignores
        /// It answers an error to an upload that asks for them.
        case refuses
    }

    private static let content = [UInt8]("123456789".utf8)
    private static let checksum = "4waSgw=="
    private static let wrongETag = "ETag: \"00000000000000000000000000000000\""
    private static let rightETag = "ETag: \"25f9e794323b453885f5181f1b624d0b\""

    /// A client of such a store, whose answer to the n-th part itself is `part`'s.
    private func fixture(
        _ store: Store,
        part: @escaping @Sendable (Int) -> [String] = { _ in [rightETag] }
    ) throws -> ClientFixture {
        let sent = Mutex(0)
        return try ClientFixture(attempts: 8, dialect: .s3) { request, _ in
            let given = request["x-amz-checksum-crc32c"]
            switch request.method {
            case "POST" where request.target.contains("uploads"):
                let asked = request["x-amz-checksum-algorithm"]
                if store == .refuses, asked != nil {
                    let message = "Unsupported checksum algorithm"
                    return [serviceError("400 No", "InvalidRequest", message: message)]
                }
                let document =
                    "<InitiateMultipartUploadResult><Key>k</Key><UploadId>U</UploadId>"
                    + "</InitiateMultipartUploadResult>"
                let algorithm = store == .ignores ? nil : asked
                return [
                    .response(
                        "200 OK",
                        headers: algorithm.map { ["x-amz-checksum-algorithm: " + $0] } ?? [],
                        body: [UInt8](document.utf8)
                    )
                ]
            case "POST":
                let document =
                    "<CompleteMultipartUploadResult><Key>k</Key><ETag>\"a-1\"</ETag>"
                    + "</CompleteMultipartUploadResult>"
                return [.response("200 OK", body: [UInt8](document.utf8))]
            case "DELETE": return [.response("204 No Content")]
            case "GET":
                let document =
                    "<ListPartsResult><ChecksumAlgorithm>CRC32C</ChecksumAlgorithm>"
                    + "<IsTruncated>false</IsTruncated><Part><PartNumber>1</PartNumber>"
                    + "<ETag>\"a\"</ETag><Size>9</Size>"
                    + "<ChecksumCRC32C>\(Self.checksum)</ChecksumCRC32C></Part></ListPartsResult>"
                return [.response("200 OK", body: [UInt8](document.utf8))]
            default:
                if let given, given != Self.checksum {
                    return store == .compares
                        ? [serviceError("400 Bad Request", "BadDigest")]
                        : [.response("200 OK", headers: ["ETag: \"b\""])]
                }
                let number = sent.withLock { count in
                    count += 1
                    return count
                }
                return [.response("200 OK", headers: part(number))]
            }
        }
    }

    private func begin(_ fixture: ClientFixture) async throws {
        var request = PutRequest(key: "k")
        request.asksForPartChecksums = true
        _ = try await fixture.client.initiateMultipartUpload(request)
    }

    private func send(_ fixture: ClientFixture, _ index: Int = 0) async throws -> UploadedPart {
        try await fixture.client.uploadPart(
            "k",
            UploadID("U"),
            PartNumber(index: index),
            body: .bytes(Self.content),
            onProgress: { _ in }
        )
    }

    /// The CRC-32C of each part that was sent, and of the wrong one that was tried.
    private func sentChecksums(_ fixture: ClientFixture) -> [String?] {
        fixture.server.requests.filter { $0.method == "PUT" }.map { $0["x-amz-checksum-crc32c"] }
    }

    private static let answered = "x-amz-checksum-crc32c: " + checksum

    @Test func `prove what arrived where the store refuses a wrong one`() async throws {
        // Its ETag would be the MD5 of something else.
        let fixture = try fixture(.compares) { _ in [Self.wrongETag, Self.answered] }
        try await begin(fixture)
        let parts = [try await send(fixture, 0), try await send(fixture, 1)]
        #expect(parts.allSatisfy { $0.crc32c == 0xE306_9283 })
        #expect(parts.allSatisfy { $0.crc64 == CRC64(of: Self.content) })
        #expect(sentChecksums(fixture) == ["AAAAAA==", Self.checksum, Self.checksum])
        _ = try await fixture.client.completeMultipartUpload(
            CompleteRequest(key: "k", upload: UploadID("U"), parts: parts)
        )
        let seen = fixture.server.requests
        #expect(seen[0]["x-amz-checksum-algorithm"] == "CRC32C")
        #expect(seen[0]["x-amz-checksum-type"] == "FULL_OBJECT")
        // All of the service's headers are signed.
        #expect(seen[2]["authorization"]?.contains(";x-amz-checksum-crc32c;") == true)
        let document = try #require(seen.last.map { String(decoding: $0.body, as: UTF8.self) })
        #expect(
            document.contains(
                "<PartNumber>2</PartNumber><ETag>\"00000000000000000000000000000000\"</ETag>"
                    + "<ChecksumCRC32C>4waSgw==</ChecksumCRC32C></Part>"
            )
        )
    }

    @Test func `prove nothing where the store believes a wrong one`() async throws {
        let fixture = try fixture(.believes) { number in
            [number == 1 ? Self.rightETag : Self.wrongETag, Self.answered]
        }
        try await begin(fixture)
        // The upload is begun again without them, and the store makes none of the whole.
        let methods = fixture.server.requests.map(\.method)
        #expect(methods == ["POST", "PUT", "DELETE", "POST"])
        #expect(try await send(fixture).crc32c == nil)
        let error = await #expect(throws: StorageError.self) { try await send(fixture) }
        guard case .integrity(.wrongDigest) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        // The next upload does not ask for them any more.
        try await begin(fixture)
        #expect(fixture.server.requests.last?["x-amz-checksum-algorithm"] == nil)
    }

    @Test(arguments: [Store.ignores, .refuses])
    private func `are not sent to a store without them`(store: Store) async throws {
        let fixture = try fixture(store) { number in
            [number == 1 ? Self.rightETag : Self.wrongETag]
        }
        try await begin(fixture)
        #expect(try await send(fixture).crc32c == nil)
        let error = await #expect(throws: StorageError.self) { try await send(fixture) }
        guard case .integrity(.wrongDigest) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sentChecksums(fixture).allSatisfy { $0 == nil })
    }

    @Test func `that differ have the part sent again, and then are an error`() async throws {
        let wrong = "x-amz-checksum-crc32c: AAAAAQ=="
        let fixture = try fixture(.compares) { number in
            [Self.rightETag, number < 3 ? wrong : Self.answered]
        }
        try await begin(fixture)
        #expect(try await send(fixture).crc32c == 0xE306_9283)
        #expect(sentChecksums(fixture).count == 4)
        let always = try self.fixture(.compares) { _ in [Self.rightETag, wrong] }
        try await begin(always)
        let error = await #expect(throws: StorageError.self) { try await send(always) }
        #expect(
            error?.kind
                == .integrity(.wrongPartChecksum(sent: Self.checksum, received: "AAAAAQ=="))
        )
        #expect(sentChecksums(always).count == 4)
    }

    @Test func `that the store answers no more leave the proof to the ETag`() async throws {
        let fixture = try fixture(.compares) { number in
            switch number {
            case 1: [Self.wrongETag, Self.answered]
            case 2: [Self.wrongETag]
            case 3: [Self.rightETag]
            // An upload that has them keeps them, and its parts' MD5 are compared.
            default: [Self.wrongETag, Self.answered]
            }
        }
        try await begin(fixture)
        _ = try await send(fixture)
        #expect(try await send(fixture).etag == ETag(wire: "25f9e794323b453885f5181f1b624d0b"))
        #expect(sentChecksums(fixture).count == 4)
        let error = await #expect(throws: StorageError.self) { try await send(fixture) }
        guard case .integrity(.wrongDigest) = error?.kind else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(sentChecksums(fixture).dropFirst().allSatisfy { $0 == Self.checksum })
    }

    @Test func `go on in an upload that an earlier run began with them`() async throws {
        let fixture = try fixture(.compares) { _ in [Self.wrongETag, Self.answered] }
        let page = try await fixture.client.listParts("k", UploadID("U"), after: nil)
        #expect(page.hasChecksums)
        #expect(page.parts.map(\.crc32c) == [0xE306_9283])
        #expect(try await send(fixture, 1).crc32c == 0xE306_9283)
        #expect(sentChecksums(fixture) == ["AAAAAA==", Self.checksum])
    }
}
