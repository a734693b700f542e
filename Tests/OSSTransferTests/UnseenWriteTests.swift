import OSSBucket
import OSSTransfer
import StoreFixture
import Testing

/// Writes that must not replace an object, of which nobody has looked whether it is there.
@Suite("A write that replaces nothing unseen")
struct UnseenWriteTests {
    private static let large = 6 << 20
    private static let small = 1_000
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// Refuses to tell of objects, as to keys that may only write.
    private static let putOnly =
        """
        {"match": {"operation": "HeadObject"},
         "effect": {"fail": {"status": 403, "code": "AccessDenied"}}}
        """

    /// A store that knows no conditions says so to each first request that has one.
    private static func unconditional(_ operation: String) -> String {
        """
        {"match": {"operation": "\(operation)", "first": 1},
         "effect": {"fail": {"status": 501, "code": "NotImplemented"}}}
        """
    }

    private func client(_ fixture: StoreFixture) throws -> BucketClient {
        try BucketClient(
            StoreFixture.bucket,
            dialect: .s3,
            configuration: fixture.configuration
        )
    }

    private func upload(
        _ fixture: StoreFixture,
        _ size: Int,
        to key: String
    ) async throws -> ResumableUpload.Outcome {
        try fixture.write("file", StoreFixture.ramp(size))
        var options = UploadOptions()
        options.ifExists = .fail
        options.partSize = 5 << 20
        return try await ResumableUpload(
            of: fixture.path("file"),
            to: client(fixture),
            key: key,
            options: options
        ).run()
    }

    @Test(arguments: [large, small])
    func `needs no right to read where the store knows conditions`(size: Int) async throws {
        try await fixture.client().put([9], to: "there")
        try fixture.setFaults("[\(Self.putOnly)]")
        #expect(try await upload(fixture, size, to: "new").object?.size == Int64(size))
        await expectError(.alreadyExists) {
            try await upload(fixture, size, to: "there")
        }
        try fixture.setFaults("[]")
        #expect(try await fixture.client().get("there", maxBytes: 10).value?.bytes == [9])
        #expect(try await fixture.client().incompleteUploads(prefix: "") == [])
    }

    @Test(arguments: [("CompleteMultipartUpload", large), ("PutObject", small)])
    func `looks where the store knows no conditions`(
        operation: String,
        size: Int
    ) async throws {
        try await fixture.client().put([9], to: "there")
        for (rules, key, code) in [
            ([], "new", nil), ([Self.putOnly], "other", .forbidden),
            // A large file is looked for before it is sent, and here appears meanwhile.
            (
                [
                    """
                    {"match": {"operation": "HeadObject", "first": 1},
                     "effect": {"fail": {"status": 404, "code": "NoSuchKey"}}}
                    """
                ], "there", .alreadyExists
            ),
        ] as [([String], String, TransferError.Code?)] {
            let isSmall = size < 10_000
            let rules = isSmall && key == "there" ? [] : rules
            let script = (rules + [Self.unconditional(operation)]).joined(separator: ",")
            try fixture.setFaults("[\(script)]")
            do throws(TransferError) {
                let outcome = try await resume(fixture, size, key)
                #expect(code == nil && outcome.object?.size == Int64(size))
            } catch {
                #expect(error.code == code, "\(key): \(error.message)")
            }
        }
        try fixture.setFaults("[]")
        #expect(try await fixture.client().get("there", maxBytes: 10).value?.bytes == [9])
        await expectError(.notFound) {
            try await fixture.client().head("other")
        }
    }

    private func resume(
        _ fixture: StoreFixture,
        _ size: Int,
        _ key: String
    ) async throws(TransferError) -> ResumableUpload.Outcome {
        do {
            return try await upload(fixture, size, to: key)
        } catch {
            throw error as? TransferError ?? TransferError(code: .localState, message: "\(error)")
        }
    }

    @Test func `looks before a single call, too`() async throws {
        try await fixture.client().put([9], to: "there")
        var options = PutOptions.none
        options.ifExists = .fail
        let client = try client(fixture)
        try fixture.setFaults("[\(Self.unconditional("PutObject"))]")
        for _ in 0..<2 {
            await expectError(.alreadyExists) {
                try await client.put([1], to: "there", options: options)
            }
        }
        await expectError(.alreadyExists) {
            try await client.copy("there", to: "there", ifExists: .fail)
        }
        #expect(try await client.get("there", maxBytes: 10).value?.bytes == [9])
        try await client.put([1], to: "new", options: options)
    }
}
