import OSSSync
import Testing

@testable import OSSSyncCLI

@Suite("What objects are written with")
struct PropertyArgumentsTests {
    private func properties(_ line: String...) throws -> ObjectProperties {
        guard case .run(let arguments) = try ArgumentParser.parse(["push", "D"] + line) else {
            throw UsageError.noCommand
        }
        return try RunOptions(arguments).properties
    }

    @Test func `every option reaches the run`() throws {
        #expect(try properties() == .none)
        var expected = ObjectProperties()
        expected.storageClass = "IA"
        expected.accessControl = "private"
        expected.encryption = .kms(keyID: "k:1")
        expected.contentType = "text/x"
        expected.contentHeaders = ["cache-control": "max-age=60, public", "expires": "0"]
        expected.metadata = ["owner": "me", "b-2": "x:y"]
        let parsed = try properties(
            "--storage-class",
            "IA",
            "--acl",
            "private",
            "--sse",
            "kms:k:1",
            "--header",
            "Cache-Control: old",
            "--header",
            "cache-control:max-age=60, public ",
            "--header=Expires: 0",
            "--header",
            "Content-Type: text/x",
            "--header",
            "x-oss-meta-Owner: me",
            "--header",
            "X-Amz-Meta-b-2: x:y"
        )
        #expect(parsed == expected)
        #expect(try properties("--sse", "aes256").encryption == .aes256)
        #expect(try properties("--sse", "kms").encryption == .kms(keyID: nil))
    }

    @Test(arguments: [
        ("--sse", "AES"), ("--sse", "kms:"), ("--header", "Cache-Control"),
        ("--header", "Cache-Control: "), ("--header", "Host: x"), ("--header", ": x"),
        ("--header", "Cache-Control: \u{7F}"), ("--header", "Cache-Control: a\r\nHost: b"),
        ("--header", "x-oss-meta-: x"), ("--header", "x-oss-meta-a_b: x"),
        ("--header", "x-oss-meta-mtime: 1"), ("--header", "x-amz-meta-osssync-upload: 1"),
        ("--header", "x-oss-object-acl: private"), ("--header", "Authorization: x"),
    ])
    func `a wrong value is refused`(option: String, value: String) {
        #expect(throws: UsageError.self) { try properties(option, value) }
    }

    @Test(arguments: [
        (StoreDialect.oss, "IA", "default", true), (.oss, "ColdArchive", "private", true),
        (.oss, "STANDARD_IA", "private", false), (.oss, "IA", "bucket-owner-read", false),
        (.s3, "STANDARD_IA", "bucket-owner-read", true), (.s3, "TIER-2", "private", true),
        (.s3, "Standard", "private", false), (.s3, "GLACIER", "default", false),
    ])
    func `classes and access control are those of the store`(
        dialect: StoreDialect,
        storageClass: String,
        accessControl: String,
        isRight: Bool
    ) {
        var properties = ObjectProperties()
        properties.storageClass = storageClass
        properties.accessControl = accessControl
        if isRight {
            #expect(throws: Never.self) { try properties.check(for: dialect) }
        } else {
            let error = #expect(throws: TransferError.self) { try properties.check(for: dialect) }
            #expect(error?.code == .configuration)
        }
    }

    @Test func `metadata that the store does not take are refused`() {
        var properties = ObjectProperties()
        properties.metadata = ["a": String(repeating: "x", count: 3_000)]
        #expect(throws: Never.self) { try properties.check(for: .oss) }
        #expect(throws: TransferError.self) { try properties.check(for: .s3) }
    }

    @Test(arguments: [("Archive", true), ("DEEP_ARCHIVE", true), ("IA", false)])
    func `archived objects are known`(storageClass: String, isArchived: Bool) {
        var properties = ObjectProperties()
        properties.storageClass = storageClass
        #expect(properties.isArchived == isArchived)
    }
}
