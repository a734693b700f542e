import FoundationEssentials
import Testing

@testable import ObjectStorage

@Suite("JSON of credentials")
struct JSONTextTests {
    private func parsed(_ text: String) throws(JSONFailure) -> JSONText {
        try JSONText(parsing: [UInt8](text.utf8))
    }

    private func failure(_ bytes: some Sequence<UInt8>) -> JSONFailure? {
        do throws(JSONFailure) {
            _ = try JSONText(parsing: [UInt8](bytes))
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            ("null", .null), (" \t\r\ntrue ", .bool(true)), ("false", .bool(false)),
            ("0", .number("0")), ("-0.10e+7", .number("-0.10e+7")), ("12E-3", .number("12E-3")),
            ("123456789012345678901234567890", .number("123456789012345678901234567890")),
            ("\"\"", .string("")), ("[]", .array([])), ("[ ]", .array([])), ("{ }", .object([])),
            ("[1,[\"a\"], null]", .array([.number("1"), .array([.string("a")]), .null])),
            (
                "{\"a\" : {\"b\":[]}}",
                .object([.init(name: "a", value: .object([.init(name: "b", value: .array([]))]))])
            ),
        ] as [(String, JSONText)]
    )
    func `values of every kind are read`(text: String, expected: JSONText) throws {
        #expect(try parsed(text) == expected)
    }

    @Test(
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u0041\u00e9\u20AC""#, "A\u{E9}\u{20AC}"),
            (#""\uD83D\ude00!""#, "\u{1F600}!"), (#""\uDBFF\uDFFF""#, "\u{10FFFF}"),
            (#""\u0000""#, "\0"), (#""\uFFFE\uFEFF""#, "\u{FFFE}\u{FEFF}"),
            ("\"caf\u{E9} \u{7F}\"", "caf\u{E9} \u{7F}"),
            ("\"\u{2028}\"", "\u{2028}"),
        ]
    )
    func `escapes become what they stand for`(text: String, expected: String) throws {
        guard case .string(let found) = try parsed(text) else {
            Issue.record("no string")
            return
        }
        #expect(found.utf8.elementsEqual(expected.utf8))
    }

    @Test(
        arguments: [
            ("", .truncated), ("  ", .truncated), ("[", .truncated), ("{\"a\":", .truncated),
            ("\"a", .truncated), ("\"\\", .truncated), ("\"\\u12", .truncated), ("-", .truncated),
            ("1.", .truncated),
            ("1e+", .truncated), ("nul", .truncated), ("\"\\ud83d", .truncated),
            ("[1,]", .malformed(offset: 3)), ("{\"a\":1,}", .malformed(offset: 7)),
            ("{a:1}", .malformed(offset: 1)),
            ("{'a':1}", .malformed(offset: 1)), ("[1 2]", .malformed(offset: 3)),
            ("01", .malformed(offset: 1)),
            ("+1", .malformed(offset: 0)), (".5", .malformed(offset: 0)),
            ("1.e5", .malformed(offset: 2)),
            ("NaN", .malformed(offset: 0)), ("True", .malformed(offset: 0)),
            ("nulL", .malformed(offset: 3)),
            ("[]]", .malformed(offset: 2)), ("1 2", .malformed(offset: 2)),
            ("// x\n1", .malformed(offset: 0)),
            ("\"a\nb\"", .malformed(offset: 2)), ("\"a\u{0}\"", .malformed(offset: 2)),
            ("\"\\x41\"", .malformed(offset: 2)),
            ("\"\\u00g0\"", .malformed(offset: 5)), ("\"\\u+041\"", .malformed(offset: 3)),
            ("\"\\ud83d\"", .malformed(offset: 7)), ("\"\\ud83dx\"", .malformed(offset: 7)),
            ("\"\\ud83d\\n\"", .malformed(offset: 8)),
            ("\"\\ud83d\\u0041\"", .malformed(offset: 3)),
            ("\"\\ud83d\\ud83d\"", .malformed(offset: 3)), ("\"\\ude00\"", .malformed(offset: 3)),
            ("\u{FEFF}1", .malformed(offset: 0)), ("\u{A0}1", .malformed(offset: 0)),
            ("1\u{0}", .malformed(offset: 1)),
        ] as [(String, JSONFailure)]
    )
    func `what is not JSON is an error with its place`(text: String, expected: JSONFailure) {
        #expect(failure(text.utf8) == expected)
    }

    @Test(
        arguments: [
            [0x22, 0xFF, 0x22], [0x22, 0xC0, 0xAF, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
            [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xC3, 0x22], [0xFF, 0xFE, 0x31, 0x00],
        ] as [[UInt8]]
    )
    func `only UTF-8 is read`(bytes: [UInt8]) {
        #expect(failure(bytes) == .notUTF8)
    }

    @Test func `depth and size have limits`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[{\"a\":", count: depth / 2) + "1"
                + String(repeating: "}]", count: depth / 2)
        }
        #expect(throws: Never.self) { try parsed(nested(16)) }
        #expect(failure(nested(18).utf8) == .tooDeep(offset: 8 * 6))
        #expect(failure(String(repeating: "[", count: 1 << 20).utf8) == .tooDeep(offset: 16))
        #expect(throws: Never.self) {
            try parsed("\"" + String(repeating: "a", count: (1 << 20) - 2) + "\"")
        }
        #expect(
            failure(String(repeating: " ", count: (1 << 20) + 1).utf8) == .tooLong(limit: 1 << 20)
        )
    }

    @Test func `of two members with one name the last counts, and names are bytes`() throws {
        let value = try parsed("{\"K\":\"1\",\"\\u212A\":\"2\",\"K\":\"3\",\"n\":null,\"i\":5}")
        #expect(try value.string("K") == "3")
        #expect(value["\u{212A}"] == .string("2"))
        #expect(try parsed("{\"\u{212A}\":\"2\"}").string("K") == nil)
        #expect(try value.string("absent") == nil)
        #expect(try value.string("n") == nil)
        #expect(throws: JSONFailure.unexpectedType(member: "i")) { try value.string("i") }
        #expect(throws: JSONFailure.notAnObject) { try parsed("[]").string("K") }
    }

    private static let document =
        #"{"a":[-15,true,"x\u00e9\n"],"b":{"c":null,"é":[[],{}]} , "d":""}"#

    @Test func `every cut of a document is an error`() {
        let bytes = Array(Self.document.utf8)
        #expect(failure(bytes) == nil)
        for length in 0..<bytes.count {
            let found = failure(bytes[..<length])
            #expect(found == .truncated || found == .notUTF8, "\(length)")
        }
    }

    /// The decoder of the toolchain is another definition of correct.
    @Test func `every changed byte is judged as another reader judges it`() throws {
        let bytes = Array(Self.document.utf8)
        let decoder = JSONDecoder()
        for index in bytes.indices {
            for replacement in Array("\"\\{}[],:01-.e+ \ntuxé".utf8) + [0x00, 0x1F, 0xFF] {
                var changed = bytes
                changed[index] = replacement
                let isAccepted = (try? decoder.decode(JSONValue.self, from: Data(changed))) != nil
                let text = String(decoding: changed, as: UTF8.self)
                #expect((failure(changed) == nil) == isAccepted, "\(text)")
            }
        }
    }

    @Test func `messages say where and quote nothing`() {
        for (text, message) in [
            ("{\"canary\": canary}", "byte 11 is unexpected"), ("[\"canary", "it ends too early"),
            (String(repeating: "[", count: 20), "it is nested deeper than 16 levels at byte 16"),
        ] {
            #expect(failure(text.utf8)?.message == message)
        }
        #expect(failure([0xFF])?.message == "it is not UTF-8")
        #expect(JSONFailure.tooLong(limit: 1 << 20).message == "it is larger than 1048576 bytes")
        #expect(JSONFailure.notAnObject.message == "it is not an object")
        #expect(JSONFailure.unexpectedType(member: "a").message == "'a' is of another type")
    }
}
