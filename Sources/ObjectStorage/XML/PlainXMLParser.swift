internal import SyncModel

/// Reads a whole document of XML 1.0 into the events of an ``XMLEventCollector``, strictly: a
/// document that is cut off anywhere, or not well-formed anywhere, is an error.
///
/// There are no DTDs: a DOCTYPE is refused. Where libraries of C are not linked it takes expat's
/// place; Foundation's parser takes a document that was cut off for a whole one on Linux.
struct PlainXMLParser {
    private let bytes: [UInt8]
    /// False if the document ends within a character.
    private let endsWhole: Bool
    private var place = 0
    private var open: [String] = []
    private(set) var collector: XMLEventCollector

    init(_ document: [UInt8], _ collector: XMLEventCollector) throws(XMLFailure) {
        self.collector = collector
        let whole = (0...3).first { isValidUTF8(Array(document.dropLast($0))) }
        guard let rest = whole, rest == 0 || document[document.count - rest] >= 0xC2 else {
            throw .malformed(reason: "not well-formed (invalid token)", line: 1)
        }
        bytes = Array(document.dropLast(rest))
        endsWhole = rest == 0
    }

    mutating func parse() throws(XMLFailure) {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
        if try starts(with: "<?xml"), try byte(5).isWhiteSpace { try declaration() }
        while try !markup() {
            guard try byte().isWhiteSpace else {
                throw malformed("not well-formed (invalid token)")
            }
            place += 1
        }
        try startTag()
        while !open.isEmpty { try content() }
        while place < bytes.count {
            if bytes[place].isWhiteSpace {
                place += 1
            } else if try !comment(), try !instruction() {
                throw malformed("junk after document element")
            }
        }
        guard endsWhole else { throw malformed("junk after document element") }
    }

    // MARK: - Bytes

    private func byte(_ offset: Int = 0) throws(XMLFailure) -> UInt8 {
        guard place + offset < bytes.count else { throw .truncated }
        return bytes[place + offset]
    }

    /// Throws if the document ends before that is known.
    private func starts(with word: String) throws(XMLFailure) -> Bool {
        for (offset, expected) in word.utf8.enumerated() where try byte(offset) != expected {
            return false
        }
        return true
    }

    private mutating func skip(_ word: String) throws(XMLFailure) -> Bool {
        guard try starts(with: word) else { return false }
        place += word.utf8.count
        return true
    }

    private mutating func expect(_ word: String) throws(XMLFailure) {
        guard try skip(word) else { throw malformed("not well-formed (invalid token)") }
    }

    private mutating func skipBlanks() throws(XMLFailure) -> Bool {
        let start = place
        while try byte().isWhiteSpace { place += 1 }
        return place > start
    }

    private func malformed(_ reason: String) -> XMLFailure {
        .malformed(reason: reason, line: 1 + bytes[..<place].count { $0 == 0x0A })
    }

    /// Passes over one character that a document may have.
    private mutating func skipCharacter() throws(XMLFailure) {
        let first = try byte()
        let isNoncharacter =
            first == 0xEF && bytes[place + 1] == 0xBF && bytes[place + 2] >= 0xBE
        guard first >= 0x20 || first.isWhiteSpace, !isNoncharacter else {
            throw malformed("not well-formed (invalid token)")
        }
        place += 1
    }

    private func checkCollector() throws(XMLFailure) {
        if let failure = collector.failure { throw failure }
    }
}

// MARK: - What is not content

extension PlainXMLParser {
    /// Passes over what may come before the root; true at the root's tag.
    private mutating func markup() throws(XMLFailure) -> Bool {
        while try byte() == UInt8(ascii: "<") {
            if try comment() { continue }
            if try instruction() { continue }
            guard try byte(1) != UInt8(ascii: "!") else { throw .doctype }
            return true
        }
        return false
    }

    private mutating func declaration() throws(XMLFailure) {
        place += 5
        // In this order; only the first must be there.
        var names = ["version", "encoding", "standalone"][...]
        while true {
            let hasBlank = try skipBlanks()
            if names.first != "version", try skip("?>") { return }
            guard hasBlank else { throw malformed("XML declaration not well-formed") }
            let (name, place) = try attribute()
            let value = String(decoding: bytes[place], as: UTF8.self)
            let isFirst = names.first == "version"
            guard let index = names.firstIndex(of: name), isFirst == (index == 0),
                name != "standalone" || value == "yes" || value == "no",
                !value.isEmpty, bytes[place].allSatisfy(isOfValue)
            else { throw malformed("XML declaration not well-formed") }
            names = names[(index + 1)...]
            guard name != "encoding" || ["utf-8", "us-ascii"].contains(value.lowercased()) else {
                throw .encoding(value)
            }
        }
    }

    private func isOfValue(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit(or: "_.:-")
    }

    private mutating func comment() throws(XMLFailure) -> Bool {
        // Where the document ends after the root, nothing is missing.
        guard try byte() == UInt8(ascii: "<"), try skip("<!--") else { return false }
        while try !skip("--") { try skipCharacter() }
        try expect(">")
        return true
    }

    private mutating func instruction() throws(XMLFailure) -> Bool {
        guard try byte() == UInt8(ascii: "<"), try skip("<?") else { return false }
        let target = try name()
        guard target.lowercased() != "xml" else {
            throw malformed("XML or text declaration not at start of entity")
        }
        guard try !skip("?>") else { return true }
        guard try skipBlanks() else { throw malformed("not well-formed (invalid token)") }
        while try !skip("?>") { try skipCharacter() }
        return true
    }

    private mutating func name() throws(XMLFailure) -> String {
        func isStart(_ byte: UInt8) -> Bool {
            byte.isLetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") || byte >= 0x80
        }
        func isPart(_ byte: UInt8) -> Bool {
            isStart(byte) || byte.isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
        }
        let start = place
        guard isStart(try byte()) else { throw malformed("not well-formed (invalid token)") }
        while isPart(try byte()) { place += 1 }
        return String(decoding: bytes[start..<place], as: UTF8.self)
    }

    /// The name, and where the value is.
    private mutating func attribute() throws(XMLFailure) -> (String, Range<Int>) {
        let name = try name()
        _ = try skipBlanks()
        try expect("=")
        _ = try skipBlanks()
        let quote = try byte()
        guard quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw malformed("not well-formed (invalid token)")
        }
        place += 1
        let start = place
        while try byte() != quote {
            switch bytes[place] {
            case UInt8(ascii: "<"): throw malformed("not well-formed (invalid token)")
            case UInt8(ascii: "&"): _ = try reference()
            default: try skipCharacter()
            }
        }
        place += 1
        return (name, start..<place - 1)
    }
}

// MARK: - Elements

extension PlainXMLParser {
    private mutating func startTag() throws(XMLFailure) {
        place += 1
        let name = try name()
        var attributes: Set<String> = []
        while true {
            let hasBlank = try skipBlanks()
            let isEmpty = try skip("/>")
            guard !isEmpty, try !skip(">") else {
                open.append(name)
                collector.open(name)
                try checkCollector()
                if isEmpty { try close() }
                return
            }
            guard hasBlank else { throw malformed("not well-formed (invalid token)") }
            guard attributes.insert(try attribute().0).inserted else {
                throw malformed("duplicate attribute")
            }
        }
    }

    private mutating func close() throws(XMLFailure) {
        open.removeLast()
        collector.close()
        try checkCollector()
    }

    private mutating func content() throws(XMLFailure) {
        switch try byte() {
        case UInt8(ascii: "<"): try tag()
        case UInt8(ascii: "&"): try append(try reference())
        default: try text()
        }
    }

    private mutating func tag() throws(XMLFailure) {
        switch try byte(1) {
        case UInt8(ascii: "/"):
            place += 2
            let name = try name()
            _ = try skipBlanks()
            try expect(">")
            guard name == open.last else { throw malformed("mismatched tag") }
            try close()
        case UInt8(ascii: "?"): _ = try instruction()
        case UInt8(ascii: "!"):
            if try byte(2) == UInt8(ascii: "-") {
                guard try comment() else { throw malformed("not well-formed (invalid token)") }
            } else {
                try expect("<![CDATA[")
                let start = place
                while try !starts(with: "]]>") { try skipCharacter() }
                try append(start..<place)
                place += 3
            }
        default: try startTag()
        }
    }

    private mutating func text() throws(XMLFailure) {
        let start = place
        while true {
            let next = try byte()
            if next == UInt8(ascii: "<") || next == UInt8(ascii: "&") { break }
            if next == UInt8(ascii: "]"), try starts(with: "]]>") {
                throw malformed("not well-formed (invalid token)")
            }
            try skipCharacter()
        }
        try append(start..<place)
    }

    /// Adds text, with the ends of lines that XML wants.
    private mutating func append(_ range: Range<Int>) throws(XMLFailure) {
        guard bytes[range].contains(0x0D) else { return try append(bytes[range]) }
        var lines: [UInt8] = []
        for index in range {
            if bytes[index] != 0x0D {
                lines.append(bytes[index])
            } else if index + 1 == bytes.count || bytes[index + 1] != 0x0A {
                lines.append(0x0A)
            }
        }
        try append(lines[...])
    }

    private mutating func append(_ text: ArraySlice<UInt8>) throws(XMLFailure) {
        unsafe text.withUnsafeBytes { unsafe collector.append($0) }
        try checkCollector()
    }

    /// What a reference stands for.
    private mutating func reference() throws(XMLFailure) -> ArraySlice<UInt8> {
        place += 1
        guard try byte() == UInt8(ascii: "#") else {
            let name = try name()
            try expect(";")
            let known = ["lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": "\""]
            guard let text = known[name] else { throw malformed("undefined entity") }
            return [UInt8](text.utf8)[...]
        }
        place += 1
        let radix: UInt32 = try byte() == UInt8(ascii: "x") ? 16 : 10
        if radix == 16 { place += 1 }
        var value: UInt32 = 0
        var digits = 0
        while let digit = hexadecimalValue(try byte()), digit < radix {
            value = min(value * radix + UInt32(digit), 0x11_0000)
            digits += 1
            place += 1
        }
        try expect(";")
        guard digits > 0, let scalar = Unicode.Scalar(value),
            value >= 0x20 || UInt8(value).isWhiteSpace,
            value != 0xFFFE, value != 0xFFFF
        else { throw malformed("reference to invalid character number") }
        return [UInt8](String(Character(scalar)).utf8)[...]
    }
}
