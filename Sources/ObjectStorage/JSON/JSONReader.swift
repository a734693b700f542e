/// Reads a JSON text from its first byte to its last, by the grammar of RFC 8259.
struct JSONReader {
    /// Valid UTF-8.
    private let bytes: [UInt8]
    private var index = 0
    private var depth = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func document() throws(JSONFailure) -> JSONText {
        let value = try value()
        skipBlanks()
        guard index == bytes.count else { throw unexpected }
        return value
    }

    private var unexpected: JSONFailure {
        index < bytes.count ? .malformed(offset: index) : .truncated
    }

    private var next: UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { index += 1 }
    }

    /// Skips blanks and takes the byte if it comes next.
    private mutating func take(_ byte: UInt8) -> Bool {
        skipBlanks()
        guard next == byte else { return false }
        index += 1
        return true
    }

    private mutating func value() throws(JSONFailure) -> JSONText {
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"):
            return try nested { reader throws(JSONFailure) in
                .object(try reader.members())
            }
        case UInt8(ascii: "["):
            return try nested { reader throws(JSONFailure) in
                .array(try reader.elements())
            }
        case UInt8(ascii: "\""):
            index += 1
            return .string(try string())
        case UInt8(ascii: "-"), (0x30...0x39)?: return .number(try number())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: throw unexpected
        }
    }

    /// Reads what is in brackets, whose first has not been taken.
    private mutating func nested(
        _ content: (inout JSONReader) throws(JSONFailure) -> JSONText
    ) throws(JSONFailure) -> JSONText {
        guard depth < JSONText.maximumDepth else { throw .tooDeep(offset: index) }
        depth += 1
        index += 1
        let value = try content(&self)
        depth -= 1
        return value
    }

    private mutating func elements() throws(JSONFailure) -> [JSONText] {
        var elements: [JSONText] = []
        if take(UInt8(ascii: "]")) { return elements }
        while true {
            elements.append(try value())
            if take(UInt8(ascii: "]")) { return elements }
            guard take(UInt8(ascii: ",")) else { throw unexpected }
        }
    }

    private mutating func members() throws(JSONFailure) -> [JSONText.Member] {
        var members: [JSONText.Member] = []
        if take(UInt8(ascii: "}")) { return members }
        while true {
            guard take(UInt8(ascii: "\"")) else { throw unexpected }
            let name = try string()
            guard take(UInt8(ascii: ":")) else { throw unexpected }
            members.append(JSONText.Member(name: name, value: try value()))
            if take(UInt8(ascii: "}")) { return members }
            guard take(UInt8(ascii: ",")) else { throw unexpected }
        }
    }

    private mutating func word(
        _ word: StaticString,
        _ value: JSONText
    ) throws(JSONFailure) -> JSONText {
        for byte in String(describing: word).utf8 {
            guard next == byte else { throw unexpected }
            index += 1
        }
        return value
    }

    private mutating func number() throws(JSONFailure) -> String {
        let start = index
        if next == UInt8(ascii: "-") { index += 1 }
        if next == UInt8(ascii: "0") { index += 1 } else { try digits() }
        if next == UInt8(ascii: ".") {
            index += 1
            try digits()
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try digits()
        }
        return String(decoding: bytes[start..<index], as: UTF8.self)
    }

    /// One digit at least.
    private mutating func digits() throws(JSONFailure) {
        let start = index
        while let byte = next, (0x30...0x39).contains(byte) { index += 1 }
        guard index > start else { throw unexpected }
    }

    /// The rest of a string whose first quote was taken.
    private mutating func string() throws(JSONFailure) -> String {
        var text: [UInt8] = []
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                index += 1
                return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                index += 1
                try escape(into: &text)
            case ..<0x20: throw unexpected
            default:
                index += 1
                text.append(byte)
            }
        }
        throw .truncated
    }

    /// What follows a backslash.
    private mutating func escape(into text: inout [UInt8]) throws(JSONFailure) {
        guard let byte = next else { throw .truncated }
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            index += 1
            let scalar = try unicodeScalar()
            text.append(contentsOf: String(scalar).utf8)
            return
        default: throw unexpected
        }
        index += 1
    }

    /// The scalar of `XXXX`, or of `XXXX\uXXXX` for one beyond the first plane; half of such a pair
    /// is no text.
    private mutating func unicodeScalar() throws(JSONFailure) -> Unicode.Scalar {
        let start = index
        let first = try hexadecimal()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard (0xD800...0xDBFF).contains(first) else { throw .malformed(offset: start) }
        for byte in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
            guard next == byte else { throw unexpected }
            index += 1
        }
        let second = try hexadecimal()
        guard (0xDC00...0xDFFF).contains(second) else { throw .malformed(offset: start) }
        let code = 0x1_0000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00)
        guard let scalar = Unicode.Scalar(code) else { throw .malformed(offset: start) }
        return scalar
    }

    private mutating func hexadecimal() throws(JSONFailure) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = hexadecimalValue(byte) else { throw unexpected }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }
}
