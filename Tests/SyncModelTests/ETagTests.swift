import FoundationEssentials
import SyncModel
import Testing

@Suite("ETags")
struct ETagTests {
    @Test(
        arguments: [
            ("\"abc\"", "abc"), ("abc", "abc"), ("\"\"", ""), ("", ""), ("\"", "\""),
            ("\"\"abc\"\"", "\"abc\""), ("W/\"abc\"", "W/\"abc\""), ("\"abc", "\"abc"),
            ("abc\"", "abc\""), (" \"abc\"", " \"abc\""), ("\"null\"", "null"),
            ("\"AB-2\"", "AB-2"),
        ]
    )
    func `exactly one pair of quotes is removed`(wire: String, text: String) {
        #expect(ETag(wire: wire).text == text)
    }

    @Test func `a digest is one in either letter case`() {
        let digest = "0123456789abcdef0123456789abcdef-12"
        let (lower, upper) = (ETag(wire: digest), ETag(wire: digest.uppercased()))
        #expect(lower == upper && Set([lower, upper]).count == 1)
        #expect(ETag(wire: "z" + digest) != ETag(wire: "Z" + digest))
        #expect(ETag(wire: digest + "1") != ETag(wire: digest.uppercased() + "2"))
    }

    @Test func `a tag is opaque and case counts`() {
        #expect(ETag(wire: "\"AB\"") == ETag(wire: "AB"))
        #expect(ETag(wire: "AB") != ETag(wire: "ab"))
        #expect(ETag(wire: "W/\"AB\"") != ETag(wire: "AB"))
        #expect(ETag(wire: "\u{E9}") != ETag(wire: "e\u{301}"))
        #expect(Set([ETag(wire: "\u{E9}"), ETag(wire: "e\u{301}")]).count == 2)
        #expect(ETag(wire: "\"AB\"").quoted == "\"AB\"")
        let long = String(repeating: "x", count: 10_240)
        #expect(ETag(wire: "\"\(long)\"").text == long)
        #expect(ETag(wire: "\u{1B}[2J").description == "\\x1B[2J")
    }

    @Test(
        arguments: [
            ("D41D8CD98F00B204E9800998ECF8427E", "d41d8cd98f00b204e9800998ecf8427e"),
            ("d41d8cd98f00b204e9800998ecf8427e", "d41d8cd98f00b204e9800998ecf8427e"),
            ("D41D8CD98F00B204E9800998ECF8427E-1", nil), ("D41D8CD98F00B204E9800998ECF8427", nil),
            ("D41D8CD98F00B204E9800998ECF8427G", nil), ("", nil), ("null", nil),
            ("W/D41D8CD98F00B204E9800998ECF842", nil),
            ("\u{FF11}\u{FF11}\u{FF11}\u{FF11}\u{FF11}\u{FF11}\u{FF11}\u{FF11}ABABABAB", nil),
        ]
    )
    func `only 32 hexadecimal digits look like an MD5`(text: String, digest: String?) {
        #expect(ETag(wire: text).md5Digest == digest)
    }

    private struct Vectors: Decodable {
        struct Case: Decodable {
            var putObjectEtagOss: String?
            var putObjectEtagS3: String?
            var ossEtag: String
            var s3Etag: String
        }
        var cases: [Case]
    }

    @Test func `tags of single puts are MD5s in both dialects, tags of parts in none`() throws {
        let tests = #filePath.split(separator: "/").dropLast(2).joined(separator: "/")
        let data = try Data(contentsOf: URL(filePath: "/\(tests)/Vectors/etag.json"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let cases = try decoder.decode(Vectors.self, from: data).cases
        #expect(cases.count == 4)
        for sample in cases {
            #expect(ETag(wire: sample.ossEtag).md5Digest == nil)
            #expect(ETag(wire: sample.s3Etag).md5Digest == nil)
            guard let oss = sample.putObjectEtagOss, let s3 = sample.putObjectEtagS3 else {
                continue
            }
            #expect(ETag(wire: oss).md5Digest != nil)
            #expect(ETag(wire: oss).md5Digest == ETag(wire: s3).md5Digest)
            #expect(ETag(wire: oss) == ETag(wire: s3))
            #expect(ETag(wire: oss).quoted == oss)
        }
    }
}
