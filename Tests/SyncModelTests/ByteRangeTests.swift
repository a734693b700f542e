import SyncModel
import Testing

@Suite("Byte ranges and numbers of the wire")
struct ByteRangeTests {
    @Test func `a range is half-open here and inclusive on the wire`() {
        let range = ByteRange(offset: 10, length: 5)
        #expect(range.end == 15)
        #expect(range.headerValue == "bytes=10-14")
        #expect(ByteRange(offset: 0, length: 1).headerValue == "bytes=0-0")
        #expect(range.dropping(2) == ByteRange(offset: 12, length: 3))
        #expect(range.dropping(5).isEmpty)
        #expect(range.dropping(0) == range)
        let far = ByteRange(offset: .max - 1, length: 1)
        #expect(far.end == .max)
    }

    @Test func `a content range of one range is read`() throws {
        let first = try #require(ContentRange(headerValue: "bytes 0-99/1000"))
        #expect(first.range == ByteRange(offset: 0, length: 100))
        #expect(first.totalSize == 1_000)
        let last = try #require(ContentRange(headerValue: "bytes 999-999/1000"))
        #expect(last.range == ByteRange(offset: 999, length: 1))
        let unknown = try #require(ContentRange(headerValue: "bytes 5-6/*"))
        #expect(unknown.totalSize == nil)
        #expect(unknown.range == ByteRange(offset: 5, length: 2))
        let huge = try #require(
            ContentRange(headerValue: "bytes 0-9223372036854775805/9223372036854775806")
        )
        #expect(huge.range.length == 9_223_372_036_854_775_806)
    }

    @Test(
        arguments: [
            "", "bytes", "bytes ", "bytes=0-99/1000", "Bytes 0-1/2", "items 0-1/2", "bytes 0-1",
            "bytes 0-/5", "bytes -1/5", "bytes 1-0/5", "bytes 0-5/5", "bytes 0-1/", "bytes */5",
            "bytes 0-1/2 ", "bytes  0-1/2", "bytes 0 -1/2", "bytes +0-1/2", "bytes 0-1e0/9",
            "bytes 0-1,2-3/9", "bytes 0-1/2/3", "bytes 0x0-1/2", "bytes \u{661}-2/3",
            "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*",
            "bytes 0-1/9223372036854775808", "bytes 0/1-2", "bytes 0-1/**",
        ]
    )
    func `anything else is no content range`(text: String) {
        #expect(ContentRange(headerValue: text) == nil)
    }

    @Test(
        arguments: [
            ("0", 0), ("7", 7), ("007", 7), ("9223372036854775807", Int64.max),
            ("9223372036854775808", nil), ("99999999999999999999999", nil), ("", nil), ("-1", nil),
            ("+1", nil), (" 1", nil), ("1 ", nil), ("1e3", nil), ("1.0", nil), ("0x1", nil),
            ("1_000", nil), ("\u{661}", nil), ("\u{FF11}", nil), ("NaN", nil), ("1\0", nil),
        ] as [(String, Int64?)]
    )
    func `a number is plain digits up to the largest`(text: String, value: Int64?) {
        #expect(parseDecimal(text.utf8) == value)
    }

    @Test(
        arguments: [
            ("0", 0), ("18446744073709551615", UInt64.max), ("18446744073709551616", nil),
            ("-1", nil), ("", nil), ("abc", nil),
            ("11051210869376104954", 11_051_210_869_376_104_954),
        ] as [(String, UInt64?)]
    )
    func `a checksum is plain digits up to the largest`(text: String, value: UInt64?) {
        #expect(parseUnsignedDecimal(text.utf8) == value)
    }
}
