import Testing

@testable import OSSSync

@Suite("Remotes")
struct BucketLocationTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        let dialect: StoreDialect
        let bucket: String
        let prefix: String
        var testDescription: String { text }

        init(_ text: String, _ dialect: StoreDialect, _ bucket: String, _ prefix: String) {
            self.text = text
            self.dialect = dialect
            self.bucket = bucket
            self.prefix = prefix
        }
    }

    @Test(arguments: [
        Case("oss://bucket", .oss, "bucket", ""), Case("oss://bucket/", .oss, "bucket", ""),
        Case("oss://bucket/p", .oss, "bucket", "p/"), Case("oss://bucket/p/", .oss, "bucket", "p/"),
        Case("oss://b-1/p//q", .oss, "b-1", "p//q/"), Case("oss://123/..", .oss, "123", "../"),
        Case("oss://bucket/caf\u{E9} %2F?#", .oss, "bucket", "caf\u{E9} %2F?#/"),
        Case("s3://my.bucket/p", .s3, "my.bucket", "p/"),
        Case(
            "oss://" + String(repeating: "b", count: 63),
            .oss,
            String(repeating: "b", count: 63),
            ""
        ),
    ])
    func `are a scheme, a bucket and a directory`(expected: Case) throws {
        let remote = try BucketLocation(parsing: expected.text)
        #expect(remote.dialect == expected.dialect)
        #expect(remote.bucket == expected.bucket)
        #expect(remote.prefix.utf8.elementsEqual(expected.prefix.utf8))
        // What is written into a directory's configuration is read back as the same.
        #expect(try BucketLocation(parsing: remote.text) == remote)
    }

    private static let rule =
        "a bucket's name has 3 to 63 of a-z, 0-9, hyphen, and none at its ends"

    @Test(
        arguments: [
            ("", "it begins with neither oss:// nor s3://"),
            ("bucket/p", "it begins with neither oss:// nor s3://"),
            ("https://bucket/p", "it begins with neither oss:// nor s3://"),
            ("OSS://bucket", "it begins with neither oss:// nor s3://"),
            ("oss:/bucket", "it begins with neither oss:// nor s3://"), ("oss://", rule),
            ("oss:///p", rule), ("oss://ab", rule), ("oss://Bucket", rule),
            ("oss://my.bucket", rule),
            ("oss://my_bucket", rule), ("oss://-bucket", rule), ("oss://bucket-/p", rule),
            ("oss://bucket?x", rule), ("oss://user@bucket", rule), ("oss://bücket", rule),
            ("oss://" + String(repeating: "b", count: 64), rule),
            (
                "s3://.bucket",
                "a bucket's name has 3 to 63 of a-z, 0-9, hyphen and dot, "
                    + "and none of those at its ends"
            ),
            ("oss://bucket//p", "a key cannot begin with a slash"),
            ("oss://bucket/\\p", "a key cannot begin with a slash"),
            ("oss://bucket/a\0b", "it has a NUL byte"),
        ]
    )
    func `that are wrong are told why`(text: String, reason: String) {
        let error = #expect(throws: TransferError.self) { try BucketLocation(parsing: text) }
        #expect(error?.code == .configuration)
        let end = ": \(reason); use oss://BUCKET/PREFIX or s3://BUCKET/PREFIX"
        #expect(error?.message == "'\(String(terminalSafe: text))' is not a remote\(end)")
    }

    @Test func `are shown without what a terminal would obey`() throws {
        let remote = try BucketLocation(parsing: "oss://bucket/a\u{1B}[2J\n")
        #expect(!remote.display.utf8.contains { $0 < 0x20 })
        #expect(BucketLocation(dialect: .s3, bucket: "b", prefix: "p").text == "s3://b/p/")
    }
}
