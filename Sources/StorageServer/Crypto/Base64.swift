/// Standard base64 with padding.
enum Base64 {
    private static let alphabet = [UInt8](
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )

    static func encode(_ bytes: [UInt8]) -> String {
        var result: [UInt8] = []
        result.reserveCapacity((bytes.count + 2) / 3 * 4)
        var index = 0
        while index < bytes.count {
            let first = bytes[index]
            let second = index + 1 < bytes.count ? bytes[index + 1] : 0
            let third = index + 2 < bytes.count ? bytes[index + 2] : 0
            result.append(alphabet[Int(first >> 2)])
            result.append(alphabet[Int((first & 3) << 4 | second >> 4)])
            result.append(
                index + 1 < bytes.count
                    ? alphabet[Int((second & 15) << 2 | third >> 6)] : UInt8(ascii: "=")
            )
            result.append(
                index + 2 < bytes.count ? alphabet[Int(third & 63)] : UInt8(ascii: "=")
            )
            index += 3
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Nil unless `text` is well-formed: whole groups of four and padding only at the end.
    static func decode(_ text: String) -> [UInt8]? {
        let bytes = [UInt8](text.utf8)
        guard bytes.count % 4 == 0 else { return nil }
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count / 4 * 3)
        var index = 0
        while index < bytes.count {
            var group: UInt32 = 0
            var padding = 0
            for byte in bytes[index..<(index + 4)] {
                group <<= 6
                if byte == UInt8(ascii: "=") {
                    padding += 1
                } else {
                    guard padding == 0, let value = value(of: byte) else { return nil }
                    group |= value
                }
            }
            guard padding <= 2, padding == 0 || index + 4 == bytes.count else { return nil }
            result.append(UInt8(group >> 16 & 255))
            if padding < 2 { result.append(UInt8(group >> 8 & 255)) }
            if padding < 1 { result.append(UInt8(group & 255)) }
            index += 4
        }
        return result
    }

    private static func value(of digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 97 + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) - 48 + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
