internal import OSSSync

/// Reads `8M`, `8m`, `8MB` or `8388608`: `K M G T` count in 1024, `KB MB GB TB` in 1000; nil for
/// anything else, for negative numbers and for sizes beyond `Int64`.
func parseSize(_ text: String) -> Int64? {
    let digits = text.utf8.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
    guard let number = Int64(String(digits) ?? "") else { return nil }
    let unit = String(text.utf8.dropFirst(digits.count)) ?? "?"
    guard let factor = sizeUnits[unit] else { return nil }
    let (size, overflow) = number.multipliedReportingOverflow(by: factor)
    return overflow ? nil : size
}

private let sizeUnits: [String: Int64] = [
    "": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40,
    "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40,
    "KB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000, "TB": 1_000_000_000_000,
]

/// Reads `20` or `30%`; nil for anything else.
func parseDeletionLimit(_ text: String) -> DeletionLimit? {
    if text.utf8.last == UInt8(ascii: "%") {
        return parseCount(String(text.dropLast()), in: 0...100).map { .percent($0) }
    }
    return parseCount(text, in: 0...Int.max).map { .count($0) }
}

/// Reads digits only; nil outside the bounds.
func parseCount(_ text: String, in bounds: ClosedRange<Int>) -> Int? {
    guard !text.isEmpty,
        text.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
        let number = Int(text), bounds.contains(number)
    else { return nil }
    return number
}

/// Reads `30` or `0.5`, seconds with at most three decimals, and what ``parseDuration(_:)`` reads;
/// nil for anything else and above a day.
func parseSeconds(_ text: String) -> Duration? {
    if let duration = parseDuration(text) { return duration <= .seconds(86_400) ? duration : nil }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = parseCount(String(parts[0]), in: 0...86_400) else {
        return nil
    }
    guard parts.count == 2 else { return .seconds(whole) }
    let decimals = parts[1].utf8.count
    guard (1...3).contains(decimals), let rest = parseCount(String(parts[1]), in: 0...999) else {
        return nil
    }
    let milliseconds = rest * [100, 10, 1][decimals - 1]
    guard whole < 86_400 || milliseconds == 0 else { return nil }
    return .seconds(whole) + .milliseconds(milliseconds)
}

/// Reads `90s`, `15m`, `2h`, `7d` or `2h30m`: whole numbers, the largest unit first; nil for
/// anything else and above 36,500 days.
func parseDuration(_ text: String) -> Duration? {
    let units: [(letter: UInt8, seconds: Int)] = [
        (UInt8(ascii: "d"), 86_400), (UInt8(ascii: "h"), 3_600), (UInt8(ascii: "m"), 60),
        (UInt8(ascii: "s"), 1),
    ]
    let longest = 36_500 * 86_400
    var (rest, left, total) = ([UInt8](text.utf8)[...], units[...], 0)
    while !rest.isEmpty {
        let digits = rest.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        rest = rest.dropFirst(digits.count)
        guard let letter = rest.popFirst(),
            let index = left.firstIndex(where: { $0.letter == letter }),
            let number = parseCount(
                String(decoding: digits, as: UTF8.self),
                in: 0...longest / units[index].seconds
            )
        else { return nil }
        total += number * units[index].seconds
        left = left[(index + 1)...]
    }
    return text.isEmpty || total > longest ? nil : .seconds(total)
}

/// Reads `2M`, `off`, or `08:00,1M 19:00,off`; nil for anything else, a rate of 0, and a time that
/// is there twice.
func parseTimetable(_ text: String) -> BandwidthTimetable? {
    func rate(_ text: Substring) -> Int64?? {
        if text == "off" { return .some(nil) }
        return parseSize(String(text)).flatMap { $0 > 0 ? .some($0) : nil }
    }
    if let rate = rate(text[...]) {
        return BandwidthTimetable([.init(minuteOfDay: 0, bytesPerSecond: rate)])
    }
    var entries: [BandwidthTimetable.Entry] = []
    for part in text.split(separator: " ") {
        let pieces = part.split(separator: ",", omittingEmptySubsequences: false)
        guard pieces.count == 2, let minute = parseMinuteOfDay(String(pieces[0])),
            let rate = rate(pieces[1]), !entries.contains(where: { $0.minuteOfDay == minute })
        else { return nil }
        entries.append(.init(minuteOfDay: minute, bytesPerSecond: rate))
    }
    return entries.isEmpty ? nil : BandwidthTimetable(entries)
}

/// Reads `08:00` or `8:00`, in minutes since midnight; nil for anything else.
func parseMinuteOfDay(_ text: String) -> Int? {
    let fields = text.split(separator: ":", omittingEmptySubsequences: false)
    guard [[2, 2], [1, 2]].contains(fields.map(\.utf8.count)),
        let hour = parseCount(String(fields[0]), in: 0...23),
        let minute = parseCount(String(fields[1]), in: 0...59)
    else { return nil }
    return hour * 60 + minute
}

/// Reads `2026-01-31`, `2026-01-31T20:15`, `2026-01-31 20:15:00` (local times),
/// `2026-01-31T20:15:00.000Z`, `3d ago` or `yesterday` (`1d ago`), in seconds since 1970; nil for
/// anything else.
func parseTime(_ text: String, now: Int64) -> Int64? {
    if text == "yesterday" { return now - 86_400 }
    if text.hasSuffix(" ago") {
        return parseDuration(String(text.dropLast(4))).map { now - $0.components.seconds }
    }
    var rest = Substring(text)
    let isUTC = rest.last == "Z"
    if isUTC { rest = rest.dropLast() }
    let parts = rest.split(omittingEmptySubsequences: false) { $0 == "T" || $0 == " " }
    let date = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count <= 2, !isUTC || parts.count == 2, date.count == 3,
        date.map(\.utf8.count) == [4, 2, 2],
        let year = parseCount(String(date[0]), in: 1970...9999),
        let month = parseCount(String(date[1]), in: 1...12),
        let day = parseCount(String(date[2]), in: 1...31)
    else { return nil }
    var clock = [0, 0, 0]
    if parts.count == 2 {
        // Fractions of a second are dropped.
        let whole = parts[1].prefix { $0 != "." }
        let fields = whole.split(separator: ":", omittingEmptySubsequences: false)
        guard (2...3).contains(fields.count), fields.allSatisfy({ $0.utf8.count == 2 }) else {
            return nil
        }
        for (index, field) in fields.enumerated() {
            guard let value = parseCount(String(field), in: 0...(index == 0 ? 23 : 59)) else {
                return nil
            }
            clock[index] = value
        }
    }
    return WallClock.seconds(year: year, month: month, day: day, clock: clock, isUTC: isUTC)
}
