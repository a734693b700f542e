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
    package subscript(name: String) -> String? {
        headers.first { $0.name == name }?.value
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
    private var headers: [(name: String, value: String)] = []
    private var isFinished = false

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
        var content = line[...]
        if content.last == UInt8(ascii: "\n") { content.removeLast() }
        if content.last == UInt8(ascii: "\r") { content.removeLast() }
        guard content.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else {
            throw .malformedResponse(reason: "its head has control characters")
        }
        guard let status else {
            self.status = try Self.status(of: content)
            return nil
        }
        guard !content.isEmpty else { return try finish(status) }
        try append(content)
        return nil
    }

    private static func status(of line: ArraySlice<UInt8>) throws(TransportError) -> Int {
        let fields = line.split(separator: 0x20, maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count >= 2, fields[0].starts(with: "HTTP/".utf8), fields[1].count == 3,
            let status = parseDecimal(fields[1]), status >= 100
        else { throw .malformedResponse(reason: "it has no HTTP status line") }
        return Int(status)
    }

    private mutating func append(_ line: ArraySlice<UInt8>) throws(TransportError) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy({ $0 > 0x20 })
        else { throw .malformedResponse(reason: "a header has no name") }
        var value = line[(colon + 1)...]
        while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
        while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
        let name = line[..<colon].map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        headers.append(
            (String(decoding: name, as: UTF8.self), String(decoding: value, as: UTF8.self))
        )
    }

    private mutating func finish(_ status: Int) throws(TransportError) -> ResponseHead? {
        if status < 200 {
            self.status = nil
            headers = []
            return nil
        }
        isFinished = true
        // Two lengths are two bodies: whoever believes the wrong one stores another's bytes.
        let lengths = headers.filter { $0.name == "content-length" }.map(\.value)
        for length in lengths {
            guard parseDecimal(length.utf8) != nil else {
                throw .malformedResponse(reason: "its Content-Length is not a number")
            }
            guard length == lengths[0] else {
                throw .malformedResponse(reason: "it has two different lengths")
            }
        }
        return ResponseHead(status: status, headers: headers)
    }
}
