import Testing

@testable import ObjectStorage

@Suite("INI documents")
struct INIDocumentTests {
    @Test func `sections, keys, comments and quotes are read`() throws {
        let document = try parse(
            """
            \u{FEFF}top = 1
            # a comment
            ; another
            [Credentials]
            accessKeyID=LTAI   ; the user's
            access-key-secret = a#b;c
            empty=
              stsToken  =  with spaces inside \t
            quoted = " # \\"x\\" \\\\ \\n"   # after
            [ profile   dev ]   # a section
            region=cn-hangzhou\r
            [Bucket-Endpoint]
            my-bucket=one.example
            mybucket=two.example
            """
        )
        #expect(document[section: ""]?["top"] == "1")
        let credentials = try #require(document[section: "Credentials"])
        #expect(credentials["access_key_id"] == "LTAI")
        #expect(credentials["AccessKeySecret"] == "a#b;c")
        #expect(credentials["empty"] == "")
        #expect(credentials["sts-token"] == "with spaces inside")
        #expect(credentials["quoted"] == " # \"x\" \\ \n")
        #expect(credentials["absent"] == nil)
        #expect(credentials.entry("stsToken")?.line == 8)
        #expect(document[section: "profile dev"]?["region"] == "cn-hangzhou")
        let buckets = try #require(document[section: "Bucket-Endpoint"])
        #expect(buckets.value(exactly: "my-bucket") == "one.example")
        #expect(buckets.value(exactly: "mybucket") == "two.example")
    }

    @Test func `a quoted name of a section is a name`() throws {
        let document = try parse(
            "[profile \"my  own\"]\nx=1\n[ profile   plain ]\nx=2\n[\"a\"]\nx=3\n"
        )
        #expect(document[section: "profile my  own"]?["x"] == "1")
        #expect(document[section: "profile plain"]?["x"] == "2")
        #expect(document[section: "\"a\""]?["x"] == "3")
    }

    @Test func `a section given twice is one, and the last of two keys counts`() throws {
        let text = "[a]\nx=1\n[b]\n[a]\nX=2\ny=3\n"
        let document = try parse(text)
        #expect(document.sections.map(\.name) == ["a", "b"])
        #expect(document[section: "a"]?["x"] == "2")
        #expect(throws: INIError.duplicate(key: "X", line: 5, firstLine: 2)) {
            try INIDocument(parsing: [UInt8](text.utf8), duplicates: .refused(except: []))
        }
    }

    @Test(arguments: [
        ("[a]\nnonsense", INIError.noEqualsSign(line: 2)),
        ("=x", .emptyKey(line: 1)),
        ("\n[a", .brokenSection(line: 2)),
        ("[]", .brokenSection(line: 1)),
        ("[a] x", .brokenSection(line: 1)),
        ("a=\"x", .brokenQuotes(line: 1)),
        ("a=\"x\" y", .brokenQuotes(line: 1)),
        ("a=\"\\x\"", .brokenQuotes(line: 1)),
        ("a=\"x\\", .brokenQuotes(line: 1)),
        ("a=b\u{0}", .notText(line: 1)),
    ])
    func `a broken line is named by its number`(text: String, expected: INIError) {
        #expect(throws: expected) { try parse(text) }
    }

    @Test func `bytes that are not text are refused`() {
        #expect(throws: INIError.notText(line: 2)) {
            try INIDocument(parsing: [0x61, 0x3D, 0x0A, 0xFF], duplicates: .lastCounts)
        }
    }

    @Test func `no message holds a value`() {
        let errors = [
            INIError.duplicate(key: "k", line: 2, firstLine: 1), .brokenQuotes(line: 3),
        ]
        #expect(
            errors.map(\.message) == [
                "line 2 gives 'k' again, after line 1", "the quotes of line 3 are not closed",
            ]
        )
    }

    @Test(arguments: [
        "", "plain", "oss://b/p/", " both ", "a # b", "a;b", "\"", "\\", "\n\r\t", "a=b", "é春",
    ])
    func `a quoted value is read back as it was`(value: String) throws {
        let document = try parse("[s]\nkey = " + INIDocument.quoted(value) + "\n")
        #expect(document[section: "s"]?["key"] == value)
    }

    private func parse(_ text: String) throws -> INIDocument {
        try INIDocument(parsing: [UInt8](text.utf8), duplicates: .lastCounts)
    }
}
