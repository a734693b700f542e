internal import SyncModel

/// One request of an operation before it is signed.
struct StorageRequest: Sendable {
    var operation: String
    var method: HTTPMethod
    var key: ObjectKey?
    /// Names and values before any encoding.
    var query: [(String, String)] = []
    var headers: [(String, String)] = []
    var body: RequestBody = .none
    var computesMD5 = false
    /// The CRC-32C of the body, which a header has, too.
    var partChecksum: UInt32?
    /// The version that is replaced, which is looked at first.
    var replaced: ReplacedVersion?
    /// False: not sent again once it may have reached the server.
    var isRepeatable = true
    /// What the body of a good answer has at most; nil if that is not known.
    var answerLength: Int64?
    /// The answer may take minutes.
    var isSlow = false
    /// A 304 is an answer, not a mistake.
    var isConditional = false
    var onSent: @Sendable (Int) -> Void = { _ in }

    init(_ operation: String, _ method: HTTPMethod, _ key: ObjectKey?) {
        self.operation = operation
        self.method = method
        self.key = key
        switch method {
        case .put, .head, .delete: answerLength = 0
        case .get, .post: break
        }
    }

    /// Throws for what can't be put on the wire as it is.
    func validate(_ dialect: StorageDialect) throws(StorageError) {
        if let key {
            guard !key.isEmpty, key.bytes.count <= dialect.maximumKeyLength else {
                throw failure(
                    .invalidRequest(
                        "a key has 1 to \(dialect.maximumKeyLength) bytes, not \(key.bytes.count)"
                    )
                )
            }
            guard isValidUTF8(key.bytes) else {
                throw failure(.invalidRequest("a key must be UTF-8"))
            }
            if let lost = dialect.lostKeyByte, key.bytes.contains(lost) {
                throw failure(
                    .invalidRequest(
                        "this store keeps '\(Character(UnicodeScalar(lost)))' in a key as '/', "
                            + "where another file may be; rename the file"
                    )
                )
            }
        }
        for (name, value) in headers {
            if name == "if-match", ETag(wire: value).isWeak {
                throw failure(.unsupported("the server's ETag is weak and names no version"))
            }
            // A line end in a value would begin another header.
            guard holds(value, only: { $0 >= 0x20 && $0 < 0x7F }),
                holds(name, only: { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") })
            else {
                throw failure(
                    .invalidRequest("the header \(displayText(name.utf8)) must be printable ASCII")
                )
            }
        }
    }
}

/// True if all bytes of `text` are such ones; in place, as each header of each request is asked.
private func holds(_ text: String, only isAllowed: (UInt8) -> Bool) -> Bool {
    var text = text
    return text.withUTF8 { bytes in unsafe bytes.allSatisfy(isAllowed) }
}

extension ObjectKey {
    /// The key as text whose UTF-8 are its bytes, for a query; the key must be UTF-8.
    var queryText: String { String(decoding: bytes, as: UTF8.self) }
}
