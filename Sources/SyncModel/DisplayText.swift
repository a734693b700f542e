/// Text that is safe on a terminal, in a log and in JSON, from bytes that a stranger may have
/// chosen.
///
/// Valid UTF-8 stays as it is, but for C0 and C1 controls, DEL, bidirectional controls, the two
/// line separators and the backslash, which are written as `\n`, `\t`, `\\`, `\xNN` or `\u{…}`.
/// Bytes that are not UTF-8 are written as `\xNN`. The result is unambiguous: two different byte
/// strings never show alike.
package func displayText(_ bytes: some Sequence<UInt8>) -> String {
    let bytes = [UInt8](bytes)
    // Nearly all names, and each of them is shown in some event.
    if bytes.allSatisfy(isShown(_:)) {
        return String(decoding: bytes, as: UTF8.self)
    }
    var result = ""
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
        guard let (scalar, length) = decodeScalar(bytes, at: index) else {
            result += "\\x" + hexadecimal(bytes[index])
            index += 1
            continue
        }
        append(scalar, to: &result)
        index += length
    }
    return result
}

/// True for a character that is shown as it is.
private func isShown(_ byte: UInt8) -> Bool { byte >= 0x20 && byte < 0x7F && byte != 0x5C }

extension ObjectKey {
    /// ``text`` and ``display``: one text, unless some of it is shown in another way.
    package var texts: (text: String, display: String) {
        let text = text
        return bytes.allSatisfy(isShown(_:)) ? (text, text) : (text, display)
    }
}

/// The bytes of which ``displayText(_:)`` made `text`.
package func displayedBytes(_ text: String) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Substring(text).unicodeScalars
    while let scalar = rest.popFirst() {
        guard scalar == "\\", let kind = rest.popFirst() else {
            result += String(scalar).utf8
            continue
        }
        switch kind {
        case "n": result.append(0x0A)
        case "r": result.append(0x0D)
        case "t": result.append(0x09)
        case "x":
            result += UInt8(String(rest.prefix(2)), radix: 16).map { [$0] } ?? []
            rest = rest.dropFirst(2)
        case "u":
            let digits = rest.dropFirst().prefix { $0 != "}" }
            let value = UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init)
            result += value.map { [UInt8](String($0).utf8) } ?? []
            rest = rest.dropFirst(digits.count + 2)
        default: result += String(kind).utf8
        }
    }
    return result
}

private func append(_ scalar: Unicode.Scalar, to result: inout String) {
    switch scalar.value {
    case 0x0A: result += "\\n"
    case 0x0D: result += "\\r"
    case 0x09: result += "\\t"
    case 0x5C: result += "\\\\"
    case 0x00...0x1F, 0x7F: result += "\\x" + hexadecimal(UInt8(scalar.value))
    case 0x80...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
        result += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
    default: result.unicodeScalars.append(scalar)
    }
}

private func hexadecimal(_ byte: UInt8) -> String {
    let text = String(byte, radix: 16, uppercase: true)
    return byte < 16 ? "0" + text : text
}

/// Decodes one scalar of strict UTF-8 (no overlong forms, no surrogates) starting at `index`.
private func decodeScalar(_ bytes: [UInt8], at index: Int) -> (Unicode.Scalar, Int)? {
    let first = bytes[index]
    if first < 0x80 { return (Unicode.Scalar(first), 1) }
    let (length, initial, minimum): (Int, UInt32, UInt32)
    switch first {
    case 0xC2...0xDF: (length, initial, minimum) = (2, UInt32(first & 0x1F), 0x80)
    case 0xE0...0xEF: (length, initial, minimum) = (3, UInt32(first & 0x0F), 0x800)
    case 0xF0...0xF4: (length, initial, minimum) = (4, UInt32(first & 0x07), 0x1_0000)
    default: return nil
    }
    guard index + length <= bytes.count else { return nil }
    var value = initial
    for position in (index + 1)..<(index + length) {
        guard bytes[position] & 0xC0 == 0x80 else { return nil }
        value = value << 6 | UInt32(bytes[position] & 0x3F)
    }
    guard value >= minimum, let scalar = Unicode.Scalar(value) else { return nil }
    return (scalar, length)
}

/// True if `bytes` are strict UTF-8, which is what both services demand of a key.
package func isValidUTF8(_ bytes: [UInt8]) -> Bool {
    var index = 0
    while index < bytes.count {
        if bytes[index] < 0x80 {
            index += 1
            continue
        }
        guard let (_, length) = decodeScalar(bytes, at: index) else { return false }
        index += length
    }
    return true
}

/// `0 B`, `999 B`, `1.0 KiB`, `12.3 MiB`, `123 GiB`: at most three digits before the unit.
package func sizeText(_ bytes: Int64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]
    var value = Double(max(0, bytes))
    var unit = 0
    // From 999.5 on, rounding would show four digits.
    while value >= 999.5, unit < units.count - 1 {
        value /= 1_024
        unit += 1
    }
    let isWhole = unit == 0 || value >= 99.95
    let tenths = Int64((value * 10).rounded())
    let number = isWhole ? "\(Int64(value.rounded()))" : "\(tenths / 10).\(tenths % 10)"
    return number + " " + units[unit]
}
