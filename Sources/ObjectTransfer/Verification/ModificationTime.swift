package import SyncModel

/// A file's mtime as object metadata: the name and the form that rclone uses, so that mirrors made
/// by either agree.
package enum ModificationTime {
    package static let metadataName = "mtime"

    /// Seconds since 1970 with a fraction of nine digits, or none where it is zero.
    package static func text(_ time: Timestamp) -> String {
        // Before 1970 the parts have different signs: -1.5 is second -2 and half a second.
        var seconds = time.seconds
        var nanoseconds = time.nanoseconds
        let isNegative = seconds < 0
        if isNegative, nanoseconds > 0 {
            seconds += 1
            nanoseconds = 1_000_000_000 - nanoseconds
        }
        let whole = (isNegative ? "-" : "") + String(seconds.magnitude)
        guard nanoseconds > 0 else { return whole }
        let digits = String(nanoseconds)
        return whole + "." + String(repeating: "0", count: 9 - digits.utf8.count) + digits
    }

    /// Nil for anything that is not such a number.
    package static func parse(_ text: String) -> Timestamp? {
        var bytes = [UInt8](text.utf8)[...]
        let isNegative = bytes.first == UInt8(ascii: "-")
        if isNegative { bytes = bytes.dropFirst() }
        let point = bytes.firstIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        guard let seconds = parseDecimal(bytes[..<point]), seconds < 1 << 40 else { return nil }
        var nanoseconds: Int64 = 0
        if point < bytes.endIndex {
            let fraction = bytes[(point + 1)...]
            guard !fraction.isEmpty, fraction.allSatisfy(\.isDigit),
                let value = parseDecimal(fraction.prefix(9))
            else { return nil }
            nanoseconds = value
            for _ in fraction.prefix(9).count..<9 { nanoseconds *= 10 }
        }
        // Beyond what nanoseconds can count, whole seconds are enough.
        guard seconds < 9_000_000_000 else {
            return Timestamp(seconds: isNegative ? -seconds : seconds)
        }
        let total = seconds * 1_000_000_000 + nanoseconds
        return Timestamp(nanosecondsSince1970: isNegative ? -total : total)
    }

    /// The time a file made from this object gets.
    package static func of(userMetadata: [String: String], lastModified: Timestamp?) -> Timestamp? {
        if let text = userMetadata[metadataName], let time = parse(text) { return time }
        return lastModified
    }
}
