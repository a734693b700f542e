internal import CLibrary
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
        var word = word
        return unsafe text.withUnsafeBytes { text in
            let found = unsafe UnsafeRawBufferPointer(rebasing: text[start...])
            return word.withUTF8 { word in
                guard let first = found.baseAddress, let second = word.baseAddress,
                    word.count <= found.count
                else { return word.isEmpty }
                return unsafe memcmp(first, second, word.count) == 0
            }
        }
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
        return unsafe try line.withUnsafeBufferPointer { (line) throws(TransportError) in
            unsafe try read(line)
        }
    }

    private mutating func read(
        _ line: UnsafeBufferPointer<UInt8>
    ) throws(TransportError) -> ResponseHead? {
        var end = line.count
        if end > 0, unsafe line[end - 1] == UInt8(ascii: "\n") { end -= 1 }
        if end > 0, unsafe line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        // Without a branch for each byte.
        var controls: UInt8 = 0
        for index in 0..<end {
            let byte = unsafe line[index]
            let isLow: UInt8 = byte < 0x20 ? 1 : 0
            let isTab: UInt8 = byte == 0x09 ? 1 : 0
            let isDelete: UInt8 = byte == 0x7F ? 1 : 0
            controls |= isLow & ~isTab | isDelete
        }
        guard controls == 0 else {
            throw .malformedResponse(reason: "its head has control characters")
        }
        guard head.status > 0 else {
            head.status = unsafe try Self.status(of: line, end)
            return nil
        }
        guard end > 0 else { return try finish() }
        // A name has no blanks.
        var colon = 0
        while colon < end, unsafe line[colon] > 0x20, unsafe line[colon] != UInt8(ascii: ":") {
            colon += 1
        }
        guard colon > 0, colon < end, unsafe line[colon] == UInt8(ascii: ":") else {
            throw .malformedResponse(reason: "a header has no name")
        }
        unsafe append(line, end, colon: colon)
        return nil
    }

    /// The number of `HTTP/1.1 200 OK`; the words after it are optional.
    private static func status(
        of line: UnsafeBufferPointer<UInt8>,
        _ end: Int
    ) throws(TransportError) -> Int {
        let line = unsafe UnsafeBufferPointer(rebasing: line[..<end])
        guard let blank = unsafe line.firstIndex(of: 0x20), unsafe line.starts(with: "HTTP/".utf8)
        else { throw .malformedResponse(reason: "it has no HTTP status line") }
        let number = unsafe line[(blank + 1)...].prefix { $0 != 0x20 }
        guard unsafe number.count == 3, let status = unsafe parseDecimal(number), status >= 100
        else {
            throw .malformedResponse(reason: "it has no HTTP status line")
        }
        return Int(status)
    }

    private mutating func append(
        _ line: UnsafeBufferPointer<UInt8>,
        _ lineEnd: Int,
        colon: Int
    ) {
        var start = colon + 1
        var end = lineEnd
        while start < end, unsafe line[start].isBlank { start += 1 }
        while start < end, unsafe line[end - 1].isBlank { end -= 1 }
        let place = head.text.count
        unsafe head.text.append(contentsOf: UnsafeBufferPointer(rebasing: line[..<colon]))
        unsafe head.text.withUnsafeMutableBufferPointer { text in
            for index in place..<text.count {
                unsafe text[index] = text[index].withoutCase
            }
        }
        unsafe head.text.append(contentsOf: UnsafeBufferPointer(rebasing: line[start..<end]))
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
        let name = "content-length"
        var first: ArraySlice<UInt8>?
        for field in fields
        where field.nameLength == name.utf8.count && holds(name, at: field.start) {
            let value = text[field.value]
            guard parseDecimal(value) != nil else {
                throw .malformedResponse(reason: "its Content-Length is not a number")
            }
            guard first ?? value == value else {
                throw .malformedResponse(reason: "it has two different lengths")
            }
            first = value
        }
    }
}
