/// An instant as the file system and the wire have it: seconds since 1970 UTC and nanoseconds
/// within the second.
package struct Timestamp: Sendable, Hashable, Comparable {
    package let seconds: Int64
    /// From 0 to 999,999,999, also before 1970.
    package let nanoseconds: Int32

    package init(seconds: Int64, nanoseconds: Int32 = 0) {
        precondition(
            nanoseconds >= 0 && nanoseconds < 1_000_000_000,
            "nanoseconds are below one second"
        )
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// The instant as one number of nanoseconds, as the manifest stores it; the nearest
    /// representable one beyond the years 1677 to 2262.
    package var nanosecondsSince1970: Int64 {
        Int64(clamping: Int128(seconds) * 1_000_000_000 + Int128(nanoseconds))
    }

    package init(nanosecondsSince1970 value: Int64) {
        var seconds = value / 1_000_000_000
        var rest = value % 1_000_000_000
        if rest < 0 {
            rest += 1_000_000_000
            seconds -= 1
        }
        self.init(seconds: seconds, nanoseconds: Int32(rest))
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }

    /// The instant so long before; to the nanosecond, within the years that have such a number.
    package static func - (instant: Self, duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let nanoseconds = Int128(seconds) * 1_000_000_000 + Int128(attoseconds / 1_000_000_000)
        let number = Int128(instant.nanosecondsSince1970) - nanoseconds
        return Timestamp(nanosecondsSince1970: Int64(clamping: number))
    }
}

extension Duration {
    package var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }

    /// Without the rest.
    package var milliseconds: Int {
        Int(components.seconds) * 1_000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}

/// The fields of an instant in UTC, for the texts of the wire.
package struct CivilTime: Sendable, Hashable {
    package let year: Int
    /// 1 to 12.
    package let month: Int
    /// 1 to 31.
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    package init(_ instant: Timestamp) {
        // Days to year, month, day by eras of 400 years (proleptic Gregorian calendar).
        let daySeconds: Int64 = 86_400
        var days = instant.seconds / daySeconds
        var rest = instant.seconds % daySeconds
        if rest < 0 {
            rest += daySeconds
            days -= 1
        }
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
        month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        year = Int(yearOfEra + era * 400 + (month <= 2 ? 1 : 0))
        hour = Int(rest / 3_600)
        minute = Int(rest % 3_600 / 60)
        second = Int(rest % 60)
    }

    /// Nil if a field is out of its bounds (a leap second counts as 59).
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let lengths = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard (0...9_999).contains(year), (1...12).contains(month), day >= 1,
            day <= lengths[month - 1],
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = min(second, 59)
    }

    package var timestamp: Timestamp {
        Timestamp(
            seconds: daysSince1970 * 86_400 + Int64(hour * 3_600 + minute * 60 + second)
        )
    }

    /// Also of the first and the last instant, whose own seconds no number has any more.
    private var daysSince1970: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let era = (shiftedYear >= 0 ? shiftedYear : shiftedYear - 399) / 400
        let yearOfEra = shiftedYear - era * 400
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    private static let monthNames = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let dayNames = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    /// `20260102T030405Z`, the form of `x-oss-date`.
    package var basicText: String {
        DigitText.make { text in
            addDate(to: &text)
            text.add("T")
            addTime(to: &text)
            text.add("Z")
        }
    }

    /// `20260102`, the form of a signing scope.
    package var basicDateText: String {
        DigitText.make { addDate(to: &$0) }
    }

    /// `2026-01-02T03:04:05Z`, the form of RFC 3339.
    package var internetText: String { String(extendedText(milliseconds: 0).dropLast(5)) + "Z" }

    /// `2026-01-02T03:04:05.000Z`, the form of timestamps in XML, with `milliseconds` from 0 to
    /// 999.
    package func extendedText(milliseconds: Int) -> String {
        DigitText.make { text in
            addDate(to: &text, separator: "-")
            text.add("T")
            addTime(to: &text, separator: ":")
            text.add(".")
            text.add(milliseconds, digits: 3)
            text.add("Z")
        }
    }

    /// `Fri, 02 Jan 2026 03:04:05 GMT`, the form of `Date` and `Last-Modified` (RFC 1123).
    package var httpText: String {
        let weekday = Self.dayNames[Int((daysSince1970 % 7 + 7) % 7)]
        return DigitText.make { text in
            text.add(weekday)
            text.add(", ")
            text.add(day, digits: 2)
            text.add(" ")
            text.add(Self.monthNames[month - 1])
            text.add(" ")
            text.add(year, digits: 4)
            text.add(" ")
            addTime(to: &text, separator: ":")
            text.add(" GMT")
        }
    }

    private func addDate(to text: inout DigitText, separator: String = "") {
        text.add(year, digits: 4)
        text.add(separator)
        text.add(month, digits: 2)
        text.add(separator)
        text.add(day, digits: 2)
    }

    private func addTime(to text: inout DigitText, separator: String = "") {
        text.add(hour, digits: 2)
        text.add(separator)
        text.add(minute, digits: 2)
        text.add(separator)
        text.add(second, digits: 2)
    }
}

/// A text of numbers with leading zeros, built without a `String` for each.
private struct DigitText {
    private var bytes: [UInt8] = []

    static func make(_ build: (inout DigitText) -> Void) -> String {
        var text = DigitText()
        text.bytes.reserveCapacity(32)
        build(&text)
        return String(decoding: text.bytes, as: UTF8.self)
    }

    mutating func add(_ text: String) {
        bytes.append(contentsOf: text.utf8)
    }

    mutating func add(_ value: Int, digits: Int) {
        var unit = 1
        for _ in 1..<digits { unit *= 10 }
        guard (0..<(unit * 10)).contains(value) else { return add(String(value)) }
        while unit > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(value / unit % 10))
            unit /= 10
        }
    }
}

extension Timestamp {
    /// Reads `2026-01-02T03:04:05.000Z`: any number of fraction digits, `Z` only; nil for anything
    /// else.
    package init?(extendedText text: some StringProtocol) {
        self.init(extendedBytes: [UInt8](text.utf8)[...])
    }

    /// The same of a text's bytes.
    package init?(extendedBytes bytes: ArraySlice<UInt8>) {
        let start = bytes.startIndex
        func isMark(_ mark: Unicode.Scalar, at index: Int) -> Bool {
            bytes[start + index] == UInt8(ascii: mark)
        }
        guard bytes.count >= 20, isMark("-", at: 4), isMark("-", at: 7), isMark("T", at: 10),
            isMark(":", at: 13), isMark(":", at: 16), bytes.last == UInt8(ascii: "Z"),
            let civil = CivilTime(
                digits: bytes,
                at: (0..<4, 5..<7, 8..<10, 11..<13, 14..<16, 17..<19)
            )
        else { return nil }
        var nanoseconds: Int64 = 0
        if bytes.count > 20 {
            guard isMark(".", at: 19), bytes.count > 21 else { return nil }
            let fraction = bytes[(start + 20)..<(bytes.endIndex - 1)]
            guard let value = parseDecimal(fraction.prefix(9)), parseDecimalTail(fraction) else {
                return nil
            }
            nanoseconds = value
            for _ in min(fraction.count, 9)..<9 { nanoseconds *= 10 }
        }
        self.init(seconds: civil.timestamp.seconds, nanoseconds: Int32(nanoseconds))
    }

    /// Reads `20260102T030405Z`; nil for anything else.
    package init?(basicText text: some StringProtocol) {
        let bytes = [UInt8](text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z"),
            let civil = CivilTime(
                digits: bytes[...],
                at: (0..<4, 4..<6, 6..<8, 9..<11, 11..<13, 13..<15)
            )
        else { return nil }
        self = civil.timestamp
    }

    /// Reads `Fri, 02 Jan 2026 03:04:05 GMT`; the day of the week is not checked; nil for anything
    /// else.
    package init?(httpText text: String) {
        let bytes = [UInt8](text.utf8)
        guard bytes.count == 29, bytes[3] == UInt8(ascii: ","),
            bytes[25...].elementsEqual(" GMT".utf8),
            let month = Self.month(bytes[8..<11]),
            let day = parseDecimal(bytes[5..<7]), let year = parseDecimal(bytes[12..<16]),
            let hour = parseDecimal(bytes[17..<19]), let minute = parseDecimal(bytes[20..<22]),
            let second = parseDecimal(bytes[23..<25]),
            let civil = CivilTime(
                year: Int(year),
                month: month,
                day: Int(day),
                hour: Int(hour),
                minute: Int(minute),
                second: Int(second)
            )
        else { return nil }
        self = civil.timestamp
    }

    private static let months = [UInt8]("JanFebMarAprMayJunJulAugSepOctNovDec".utf8)

    /// By itself, for the compiler's sake: beside the numbers it took more than a second.
    private static func month(_ name: ArraySlice<UInt8>) -> Int? {
        for start in stride(from: 0, to: months.count, by: name.count)
        where months[start..<start + name.count] == name {
            return start / name.count + 1
        }
        return nil
    }
}

extension CivilTime {
    fileprivate typealias FieldPlaces = (
        Range<Int>, Range<Int>, Range<Int>, Range<Int>, Range<Int>, Range<Int>
    )

    /// Places are counted from the first byte.
    fileprivate init?(digits bytes: ArraySlice<UInt8>, at places: FieldPlaces) {
        func number(_ place: Range<Int>) -> Int64? {
            let start = bytes.startIndex
            return parseDecimal(bytes[(start + place.lowerBound)..<(start + place.upperBound)])
        }
        guard let year = number(places.0), let month = number(places.1),
            let day = number(places.2), let hour = number(places.3),
            let minute = number(places.4), let second = number(places.5)
        else { return nil }
        self.init(
            year: Int(year),
            month: Int(month),
            day: Int(day),
            hour: Int(hour),
            minute: Int(minute),
            second: Int(second)
        )
    }
}

/// True if every byte is a digit; fractions may be longer than a number can be.
private func parseDecimalTail(_ bytes: ArraySlice<UInt8>) -> Bool {
    bytes.allSatisfy(\.isDigit)
}
