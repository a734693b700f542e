internal import SyncModel

/// The status line and the headers of a response.
///
/// The text stays in one block: of some fifteen headers a request reads a few.
package struct ResponseHead: Sendable {
    /// Where a header's name begins; the value follows it.
    fileprivate struct Field: Sendable {
        let start: Int
        let nameLength: Int
        let valueLength: Int

        var value: Range<Int> { start + nameLength..<start + nameLength + valueLength }
    }

    package fileprivate(set) var status: Int
    /// Names in lower case and values without blanks at their ends.
    fileprivate var text: [UInt8] = []
    fileprivate var fields: [Field] = []

    package init(status: Int, headers: [(name: String, value: String)]) {
        self.status = status
        for (name, value) in headers {
            let start = text.count
            text += name.utf8
            text += value.utf8
            fields.append(
                Field(start: start, nameLength: name.utf8.count, valueLength: value.utf8.count)
            )
        }
    }

    /// Names in lower case, values without blanks at their ends, in the order of the wire.
    package var headers: [(name: String, value: String)] {
        fields.map { field in
            (string(field.start..<field.start + field.nameLength), string(field.value))
        }
    }

    /// The first value of a header, by its name in lower case.
    package subscript(name: String) -> String? { self["", name] }

    /// The same for a name in two parts, the first of which is a dialect's.
    subscript(prefix: String, name: String) -> String? {
        place(prefix, name).map(string(_:))
    }

    /// The first value of a header as a number.
    func number(_ name: String) -> Int64? {
        place("", name).flatMap { parseDecimal(text[$0]) }
    }

    /// True if there is such a header.
    func has(_ name: String) -> Bool { place("", name) != nil }

    /// The headers whose names begin with `prefix`, by the rest of their names.
    func headers(after prefix: String) -> [(name: String, value: String)] {
        let length = prefix.utf8.count
        return fields.compactMap { field in
            guard field.nameLength >= length, holds(prefix, at: field.start) else { return nil }
            let name = field.start + length..<field.start + field.nameLength
            return (string(name), string(field.value))
        }
    }

    package var isSuccess: Bool { (200..<300).contains(status) }

    var isChunked: Bool { has("transfer-encoding") }

    /// The announced length of the body; a chunked one announces none.
    var contentLength: Int64? { isChunked ? nil : number("content-length") }

    /// Where the value of a header is.
    ///
    /// A dozen names are looked for in each response: most others are told apart by their length.
    private func place(_ prefix: String, _ name: String) -> Range<Int>? {
        let head = prefix.utf8.count
        let length = head + name.utf8.count
        for field in fields where field.nameLength == length {
            // What comes after a prefix tells more than it.
            if holds(name, at: field.start + head), holds(prefix, at: field.start) {
                return field.value
            }
        }
        return nil
    }

    private func holds(_ word: String, at start: Int) -> Bool {
        var index = start
        for byte in word.utf8 {
            if text[index] != byte { return false }
            index += 1
        }
        return true
    }

    private func string(_ place: Range<Int>) -> String {
        String(decoding: text[place], as: UTF8.self)
    }
}

/// Collects the lines of a response's head, within limits, and skips interim responses.
struct ResponseHeadParser {
    static let maximumBytes = 64 << 10
    static let maximumLines = 200

    private var byteCount = 0
    private var lineCount = 0
    /// With the status 0 until there is a status line.
    private var head = ResponseHead(status: 0, headers: [])
    private var isFinished = false

    init() {
        head.text.reserveCapacity(768)
        head.fields.reserveCapacity(20)
    }

    /// Takes one line with its end; returns the head at the empty line that ends it.
    ///
    /// Lines after that are trailers of a chunked body: counted, and not kept.
    mutating func accept(_ line: Span<UInt8>) throws(TransportError) -> ResponseHead? {
        byteCount += line.count
        lineCount += 1
        guard byteCount <= Self.maximumBytes, lineCount <= Self.maximumLines else {
            throw .malformedResponse(reason: "its head is too long")
        }
        guard !isFinished else { return nil }
        var end = line.count
        if end > 0, line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        var colon = end
        for index in 0..<end {
            let byte = line[index]
            guard byte >= 0x20 && byte != 0x7F || byte == 0x09 else {
                throw .malformedResponse(reason: "its head has control characters")
            }
            if byte == UInt8(ascii: ":"), colon == end { colon = index }
        }
        guard head.status > 0 else {
            head.status = try Self.status(of: line, end)
            return nil
        }
        guard end > 0 else { return try finish() }
        guard colon > 0, colon < end, isName(line, colon) else {
            throw .malformedResponse(reason: "a header has no name")
        }
        append(line, end, colon: colon)
        return nil
    }

    private func isName(_ line: Span<UInt8>, _ end: Int) -> Bool {
        for index in 0..<end where line[index] <= 0x20 { return false }
        return true
    }

    private static func status(of line: Span<UInt8>, _ end: Int) throws(TransportError) -> Int {
        let line = (0..<end).map { line[$0] }
        let fields = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count >= 2, fields[0].starts(with: "HTTP/".utf8), fields[1].count == 3,
            let status = parseDecimal(fields[1]), status >= 100
        else { throw .malformedResponse(reason: "it has no HTTP status line") }
        return Int(status)
    }

    private mutating func append(_ line: Span<UInt8>, _ lineEnd: Int, colon: Int) {
        var start = colon + 1
        var end = lineEnd
        while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        while start < end, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
        let place = head.text.count
        for index in 0..<colon { head.text.append(asciiLowercase(line[index])) }
        for index in start..<end { head.text.append(line[index]) }
        head.fields.append(.init(start: place, nameLength: colon, valueLength: end - start))
    }

    private mutating func finish() throws(TransportError) -> ResponseHead? {
        if head.status < 200 {
            head = ResponseHead(status: 0, headers: [])
            return nil
        }
        isFinished = true
        // Two lengths are two bodies: whoever believes the wrong one stores another's bytes.
        try head.requireOneLength()
        return head
    }
}

extension ResponseHead {
    fileprivate func requireOneLength() throws(TransportError) {
        var first: String?
        for (name, value) in headers(after: "content-length") where name.isEmpty {
            guard parseDecimal(value.utf8) != nil else {
                throw .malformedResponse(reason: "its Content-Length is not a number")
            }
            guard first ?? value == value else {
                throw .malformedResponse(reason: "it has two different lengths")
            }
            first = value
        }
    }
}
