internal import OSSSync

/// Keys as text: a key may have any bytes.
enum KeyText {
    /// For people.
    static func shown(_ key: [UInt8]) -> String {
        String(terminalSafe: String(decoding: key, as: UTF8.self))
    }

    /// With every byte that is not a letter, a digit or one of `-._~/` as `%` and two digits.
    static func encoded(_ key: [UInt8]) -> String {
        let digits = [UInt8]("0123456789ABCDEF".utf8)
        let text = key.flatMap { byte -> [UInt8] in
            isPlain(byte)
                ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The key of such a text, in which other bytes may stand for themselves; nil for a `%` without
    /// two digits.
    static func key(of text: [UInt8]) -> [UInt8]? {
        var key: [UInt8] = []
        var index = text.startIndex
        while index < text.endIndex {
            guard text[index] == UInt8(ascii: "%") else {
                key.append(text[index])
                index += 1
                continue
            }
            guard text.count > index + 2,
                let byte = UInt8(
                    String(decoding: text[(index + 1)...(index + 2)], as: UTF8.self),
                    radix: 16
                )
            else { return nil }
            key.append(byte)
            index += 3
        }
        return key
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "/"):
            true
        default: false
        }
    }
}

extension StringProtocol {
    /// True if the text has another one in it, byte by byte: `contains` links regular expressions.
    func hasPart(_ part: String) -> Bool {
        utf8.indices.contains { utf8[$0...].starts(with: part.utf8) }
    }
}
