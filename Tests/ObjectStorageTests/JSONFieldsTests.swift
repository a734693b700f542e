import ObjectStorage
import Testing

@Suite("Members that are declared once")
struct JSONFieldsTests {
    private struct Sample: JSONObject, Hashable {
        var text: String
        var count: Int?
        var rows: [Row] = []

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Self(
                text: try fields("text", value?.text),
                count: try fields.optional("count", value?.count),
                rows: try fields("rows", value?.rows)
            )
        }
    }

    private struct Row: JSONObject, Hashable {
        static let isRow = true
        var number: UInt64?
        var isLast: Bool

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Self(
                number: try fields.optional("number", value?.number),
                isLast: try fields("last", value?.isLast)
            )
        }
    }

    private func read(_ text: String) throws -> Sample? {
        Sample(json: try JSONText(parsing: [UInt8](text.utf8)))
    }

    @Test func `are written in their order, and read back`() throws {
        let rows = [Row(number: .max, isLast: false), Row(number: nil, isLast: true)]
        let sample = Sample(text: "a\"\n", count: -1, rows: rows)
        let text =
            #"{"text":"a\"\n","count":-1,"rows":[["18446744073709551615",false],[null,true]]}"#
        #expect(sample.json.text == text)
        #expect(try read(text) == sample)
        #expect(Sample(text: "", count: nil).json.text == #"{"text":"","rows":[]}"#)
    }

    @Test(arguments: [
        #"{"text":"a","rows":[]}"#, #"{"rows":[],"count":null,"text":"a"}"#,
        #"{"text":"a","more":{"text":"b"},"rows":[]}"#,
    ])
    func `are found by name among others`(text: String) throws {
        #expect(try read(text) == Sample(text: "a", count: nil))
    }

    @Test(arguments: [
        "{}", "[]", "null", #"{"rows":[]}"#, #"{"text":null,"rows":[]}"#,
        #"{"text":1,"rows":[]}"#, #"{"text":"a"}"#, #"{"text":"a","rows":{}}"#,
        #"{"text":"a","rows":[],"count":"1"}"#, #"{"text":"a","rows":[],"count":1.5}"#,
        #"{"text":"a","rows":[],"count":9223372036854775808}"#,
        #"{"text":"a","rows":[[1,true]]}"#, #"{"text":"a","rows":[["1"]]}"#,
        #"{"text":"a","rows":[["-1",true]]}"#, #"{"text":"a","rows":[[null,true],0]}"#,
    ])
    func `are nothing if one of them is missing or of another type`(text: String) throws {
        #expect(try read(text) == nil)
    }
}
