internal import SyncModel

/// What a request is answered with, before faults and the headers every answer has.
struct Answer {
    var status: Int
    var headers: [(name: String, value: String)]
    var body: AnswerBody

    init(_ status: Int, headers: [(name: String, value: String)] = [], body: AnswerBody = .empty) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// A document of the protocol.
    static func xml(_ document: XMLWriter, headers: [(name: String, value: String)] = []) -> Answer
    {
        Answer(
            200,
            headers: [("Content-Type", "application/xml")] + headers,
            body: .bytes(document.finish())
        )
    }

    /// Replaces or adds a header.
    mutating func setHeader(_ name: String, _ value: String) {
        removeHeader(name)
        headers.append((name, value))
    }

    mutating func removeHeader(_ name: String) {
        let lower = name.lowercased()
        headers.removeAll { $0.name.lowercased() == lower }
    }
}

enum AnswerBody {
    case empty
    case bytes([UInt8])
    /// Bytes of an object, from its files.
    case content(PinnedContent, ByteRange)

    var length: Int64 {
        switch self {
        case .empty: 0
        case .bytes(let bytes): Int64(bytes.count)
        case .content(_, let range): range.length
        }
    }
}
