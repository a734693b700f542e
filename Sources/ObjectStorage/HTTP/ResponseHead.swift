internal import SyncModel

/// The status line and the headers of a response.
package struct ResponseHead: Sendable {
    package let status: Int
    /// Names in lower case, values without blanks at their ends, in the order of the wire.
    package let headers: [(name: String, value: String)]

    package init(status: Int, headers: [(name: String, value: String)]) {
        self.status = status
        self.headers = headers
    }

    /// The first value of a header, by its name in lower case.
    package subscript(name: String) -> String? { self["", name] }

    /// The same for a name in two parts, the first of which is a dialect's.
    ///
    /// A dozen names are looked for in each response: most others are told apart by their length.
    subscript(prefix: String, name: String) -> String? {
        let length = prefix.utf8.count + name.utf8.count
        for header in headers where header.name.utf8.count == length {
            let found = header.name.utf8
            if found.starts(with: prefix.utf8),
                found.dropFirst(prefix.utf8.count).elementsEqual(name.utf8)
            {
                return header.value
            }
        }
        return nil
    }

    package var isSuccess: Bool { (200..<300).contains(status) }

    var isChunked: Bool { self["transfer-encoding"] != nil }

    /// The announced length of the body; a chunked one announces none.
    var contentLength: Int64? {
        guard !isChunked, let text = self["content-length"] else { return nil }
        return parseDecimal(text.utf8)
    }
}

/// Collects the lines of a response's head, within limits, and skips interim responses.
struct ResponseHeadParser {
    static let maximumBytes = 64 << 10
    static let maximumLines = 200

    private var byteCount = 0
    private var lineCount = 0
    private var status: Int?
    private var headers: [(name: String, value: String)]
    private var isFinished = false

    init() {
        headers = []
        headers.reserveCapacity(16)
    }

    /// Takes one line with its end; returns the head at the empty line that ends it.
    ///
    /// Lines after that are trailers of a chunked body: counted, and not kept.
    mutating func accept(_ line: [UInt8]) throws(TransportError) -> ResponseHead? {
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
        guard let status else {
            self.status = try Self.status(of: line[..<end])
            return nil
        }
        guard end > 0 else { return try finish(status) }
        guard colon > 0, colon < end, line[..<colon].allSatisfy({ $0 > 0x20 }) else {
            throw .malformedResponse(reason: "a header has no name")
        }
        append(line[..<end], colon: colon)
        return nil
    }

    private static func status(of line: ArraySlice<UInt8>) throws(TransportError) -> Int {
        let fields = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count >= 2, fields[0].starts(with: "HTTP/".utf8), fields[1].count == 3,
            let status = parseDecimal(fields[1]), status >= 100
        else { throw .malformedResponse(reason: "it has no HTTP status line") }
        return Int(status)
    }

    private mutating func append(_ line: ArraySlice<UInt8>, colon: Int) {
        var start = colon + 1
        var end = line.endIndex
        while start < end, line[start] == 0x20 || line[start] == 0x09 { start += 1 }
        while start < end, line[end - 1] == 0x20 || line[end - 1] == 0x09 { end -= 1 }
        let name = unsafe String(unsafeUninitializedCapacity: colon) { buffer in
            for index in 0..<colon { unsafe buffer[index] = asciiLowercase(line[index]) }
            return colon
        }
        headers.append((name, String(decoding: line[start..<end], as: UTF8.self)))
    }

    private mutating func finish(_ status: Int) throws(TransportError) -> ResponseHead? {
        if status < 200 {
            self.status = nil
            headers = []
            return nil
        }
        isFinished = true
        // Two lengths are two bodies: whoever believes the wrong one stores another's bytes.
        let head = ResponseHead(status: status, headers: headers)
        let length = head["content-length"]
        for header in headers where header.name == "content-length" {
            guard parseDecimal(header.value.utf8) != nil else {
                throw .malformedResponse(reason: "its Content-Length is not a number")
            }
            guard header.value == length else {
                throw .malformedResponse(reason: "it has two different lengths")
            }
        }
        return head
    }
}
