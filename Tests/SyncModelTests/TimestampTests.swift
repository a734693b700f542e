import SyncModel
import SyncTestSupport
import Testing

@Suite("Instants and their texts")
struct TimestampTests {
    private static let samples: [(Int64, basic: String, extended: String, http: String)] = [
        (
            0, "19700101T000000Z", "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT"
        ),
        (
            1_767_323_045, "20260102T030405Z", "2026-01-02T03:04:05.000Z",
            "Fri, 02 Jan 2026 03:04:05 GMT"
        ),
        (
            951_782_400, "20000229T000000Z", "2000-02-29T00:00:00.000Z",
            "Tue, 29 Feb 2000 00:00:00 GMT"
        ),
        (
            4_107_542_399, "21000228T235959Z", "2100-02-28T23:59:59.000Z",
            "Sun, 28 Feb 2100 23:59:59 GMT"
        ),
        (
            4_107_542_400, "21000301T000000Z", "2100-03-01T00:00:00.000Z",
            "Mon, 01 Mar 2100 00:00:00 GMT"
        ),
        (
            -1, "19691231T235959Z", "1969-12-31T23:59:59.000Z", "Wed, 31 Dec 1969 23:59:59 GMT"
        ),
        (
            -62_135_596_800, "00010101T000000Z", "0001-01-01T00:00:00.000Z",
            "Mon, 01 Jan 0001 00:00:00 GMT"
        ),
        (
            253_402_300_799, "99991231T235959Z", "9999-12-31T23:59:59.000Z",
            "Fri, 31 Dec 9999 23:59:59 GMT"
        ),
    ]

    @Test func `each format is written and read back`() {
        for (seconds, basic, extended, http) in Self.samples {
            let instant = Timestamp(seconds: seconds)
            let civil = CivilTime(instant)
            #expect(civil.timestamp == instant)
            #expect(civil.basicText == basic)
            #expect(civil.basicDateText == basic.prefix(8))
            #expect(civil.extendedText(milliseconds: 0) == extended)
            #expect(civil.httpText == http)
            #expect(Timestamp(basicText: basic) == instant)
            #expect(Timestamp(extendedText: extended) == instant)
            #expect(Timestamp(httpText: http) == instant)
        }
    }

    @Test(
        arguments: [
            ("2026-01-02T03:04:05Z", 0), ("2026-01-02T03:04:05.1Z", 100_000_000),
            ("2026-01-02T03:04:05.120Z", 120_000_000), ("2026-01-02T03:04:05.000000001Z", 1),
            ("2026-01-02T03:04:05.1234567899999Z", 123_456_789),
            ("2026-01-02T03:04:05.00000000000000000000000000Z", 0),
        ] as [(String, Int32)]
    )
    func `a fraction has any number of digits`(text: String, nanoseconds: Int32) {
        #expect(
            Timestamp(extendedText: text)
                == Timestamp(seconds: 1_767_323_045, nanoseconds: nanoseconds)
        )
    }

    @Test(
        arguments: [
            "", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02T03:04:05+00:00",
            "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.x1Z", "2026-01-02T03:04:05.123456789xZ",
            "2026-13-02T03:04:05Z", "2026-00-02T03:04:05Z", "2026-02-29T03:04:05Z",
            "2026-01-32T03:04:05Z", "2026-01-00T03:04:05Z", "2026-01-02T24:04:05Z",
            "2026-01-02T03:60:05Z", "2026-01-02T03:04:61Z", "2026-1-02T03:04:05.0Z",
            "+026-01-02T03:04:05Z", "2026-01-02t03:04:05Z", "2026-01-02 03:04:05Z",
            "2026-01-02T03:04:05.000Zx", "\u{662}026-01-02T03:04:05Z", "2026-01-02T03:04:05 Z",
        ]
    )
    func `anything else is no extended time`(text: String) {
        #expect(Timestamp(extendedText: text) == nil)
    }

    @Test(
        arguments: [
            "", "20260102T030405", "20260102 030405Z", "20260102T030405Zx", "2026-0102T0304Z",
            "20260230T030405Z", "20260102T250405Z", "2026010aT030405Z",
        ]
    )
    func `anything else is no basic time`(text: String) {
        #expect(Timestamp(basicText: text) == nil)
    }

    @Test(
        arguments: [
            "", "Fri, 02 Jan 2026 03:04:05", "Fri, 02 Jan 2026 03:04:05 UTC",
            "Fri, 2 Jan 2026 03:04:05 GMT", "Fri, 02 jan 2026 03:04:05 GMT",
            "Fri, 02 anF 2026 03:04:05 GMT", "Fri, 30 Feb 2026 03:04:05 GMT",
            "Friday, 02-Jan-26 03:04:05 GMT", "Fri Jan  2 03:04:05 2026",
            "Fri, 02 Jan 2026 24:04:05 GMT", "Fri, 02 Jan +026 03:04:05 GMT",
        ]
    )
    func `anything else is no time of HTTP`(text: String) {
        #expect(Timestamp(httpText: text) == nil)
    }

    @Test func `the day of the week is not judged, and a leap second counts as the one before`() {
        let instant = Timestamp(seconds: 1_767_323_045)
        #expect(Timestamp(httpText: "Mon, 02 Jan 2026 03:04:05 GMT") == instant)
        #expect(
            Timestamp(extendedText: "2016-12-31T23:59:60Z")
                == Timestamp(extendedText: "2016-12-31T23:59:59Z")
        )
    }

    @Test(
        arguments: [
            (0, 0, 0), (1, 5, 1_000_000_005), (-1, 999_999_999, -1), (-1, 0, -1_000_000_000),
            (-2, 1, -1_999_999_999), (9_223_372_036, 854_775_807, Int64.max),
            (-9_223_372_037, 145_224_192, Int64.min), (-9_223_372_037, 145_224_193, Int64.min + 1),
        ] as [(Int64, Int32, Int64)]
    )
    func `nanoseconds go there and back`(seconds: Int64, nanoseconds: Int32, value: Int64) {
        let instant = Timestamp(seconds: seconds, nanoseconds: nanoseconds)
        #expect(instant.nanosecondsSince1970 == value)
        #expect(Timestamp(nanosecondsSince1970: value) == instant)
    }

    @Test func `instants beyond the representable nanoseconds stay at the nearest`() {
        #expect(Timestamp(seconds: .max).nanosecondsSince1970 == .max)
        #expect(Timestamp(seconds: .min).nanosecondsSince1970 == .min)
        #expect(
            Timestamp(seconds: 9_223_372_036, nanoseconds: 854_775_808).nanosecondsSince1970 == .max
        )
    }

    @Test func `a time before an instant is so much earlier, within the numbers`() {
        let instant = Timestamp(seconds: 1, nanoseconds: 5)
        #expect(instant - .nanoseconds(6) == Timestamp(seconds: 0, nanoseconds: 999_999_999))
        #expect(instant - .seconds(3) == Timestamp(seconds: -2, nanoseconds: 5))
        #expect(instant - .seconds(-3) == Timestamp(seconds: 4, nanoseconds: 5))
        let least = Timestamp(nanosecondsSince1970: Int64.min)
        #expect(least - .seconds(Int64.max) == least)
    }

    @Test func `order is that of time, also before 1970`() {
        let ordered = [
            Timestamp(seconds: -2, nanoseconds: 999_999_999), Timestamp(seconds: -1),
            Timestamp(seconds: -1, nanoseconds: 1), Timestamp(seconds: 0),
            Timestamp(seconds: 0, nanoseconds: 1), Timestamp(seconds: 1),
        ]
        #expect(ordered.shuffled().sorted() == ordered)
    }

    @Test func `fields out of bounds make no civil time`() {
        func civil(_ year: Int, _ month: Int, _ day: Int) -> CivilTime? {
            CivilTime(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)
        }
        #expect(civil(2024, 2, 29) != nil)
        #expect(civil(2023, 2, 29) == nil)
        #expect(civil(1900, 2, 29) == nil)
        #expect(civil(2000, 2, 29) != nil)
        #expect(civil(10_000, 1, 1) == nil)
        #expect(civil(-1, 1, 1) == nil)
        #expect(civil(2024, 4, 31) == nil)
        #expect(civil(2024, 13, 1) == nil)
    }

    @Test(arguments: UInt64(0)..<20)
    func `every second of ten millennia goes there and back`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let seconds = Int64(random.next() % 315_537_897_600) - 62_135_596_800
            let instant = Timestamp(seconds: seconds)
            #expect(CivilTime(instant).timestamp == instant)
            #expect(Timestamp(basicText: CivilTime(instant).basicText) == instant)
            #expect(Timestamp(httpText: CivilTime(instant).httpText) == instant)
        }
    }
}
