internal import SyncModel

/// Lower-case hexadecimal digits of `bytes`.
package func hexadecimalText(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount * 2)
    appendHexadecimal(bytes, to: &text)
    return String(decoding: text, as: UTF8.self)
}

/// Appends the lower-case hexadecimal digits of `bytes`.
func appendHexadecimal(_ bytes: some Sequence<UInt8>, to text: inout [UInt8]) {
    for byte in bytes {
        text.append(lowerCaseDigit(byte >> 4))
        text.append(lowerCaseDigit(byte & 0x0F))
    }
}

private func lowerCaseDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
}

/// The value of a hexadecimal digit of either case; nil for any other byte.
func hexadecimalValue(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
}

extension StringProtocol {
    /// Without the blanks and controls at both ends.
    var trimmed: String {
        var text = Substring(self).utf8
        while let first = text.first, first <= 0x20 { text.removeFirst() }
        while let last = text.last, last <= 0x20 { text.removeLast() }
        return String(Substring(text))
    }
}

/// The bytes of `text` behind the first occurrence of `pattern`; nil if it does not occur.
///
/// The toolchain's own search would link all of its regular expressions.
func bytes(of text: String, after pattern: StaticString) -> ArraySlice<UInt8>? {
    let pattern = [UInt8](String(describing: pattern).utf8)
    var rest = [UInt8](text.utf8)[...]
    while rest.count >= pattern.count {
        if rest.starts(with: pattern) { return rest.dropFirst(pattern.count) }
        rest.removeFirst()
    }
    return nil
}

/// Standard base64 with padding and without line breaks (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    package static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let available = min(3, bytes.count - index)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < available ? UInt32(bytes[index + offset]) : 0)
            }
            for position in 0..<4 {
                let sextet = Int(group >> (18 - 6 * UInt32(position)) & 0x3F)
                text.append(position <= available ? alphabet[sextet] : UInt8(ascii: "="))
            }
            index += 3
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil unless `text` is whole groups of four with padding only at the end; blanks and line ends
    /// around and inside are skipped.
    package static func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        var group: UInt32 = 0
        var digits = 0
        var padding = 0
        for character in text where !character.isWhiteSpace {
            if character == UInt8(ascii: "=") {
                padding += 1
                continue
            }
            guard padding == 0, let sextet = value(character) else { return nil }
            group = group << 6 | UInt32(sextet)
            digits += 1
            if digits == 4 {
                bytes += [UInt8(group >> 16 & 0xFF), UInt8(group >> 8 & 0xFF), UInt8(group & 0xFF)]
                group = 0
                digits = 0
            }
        }
        switch (digits, padding) {
        case (0, 0): break
        case (2, 2): bytes.append(UInt8(group >> 4 & 0xFF))
        case (3, 1): bytes += [UInt8(group >> 10 & 0xFF), UInt8(group >> 2 & 0xFF)]
        default: return nil
        }
        return bytes
    }

    private static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): character - UInt8(ascii: "A")
        case UInt8(ascii: "a")...UInt8(ascii: "z"): character - UInt8(ascii: "a") + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0") + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
