internal import SyncModel

/// One request, ready to be sent.
struct HTTPRequest: Sendable {
    var method: HTTPMethod
    /// Percent-encoded and sent as it is, dot segments too.
    var url: String
    var headers: [(name: String, value: String)]
    var body: RequestBody
    var patience: Patience
    /// False: the transport must not send the request a second time on its own when a reused
    /// connection turns out to be dead.
    var isReplayable: Bool
    /// True after a failure: no connection that may be half dead is used again.
    var needsFreshConnection: Bool
    /// Called on the transport's thread with the bytes taken from the body; negative when they are
    /// sent again.
    var onSent: @Sendable (Int) -> Void
    /// Called on the transport's thread when the head has come and before any byte of the body.
    var judge: @Sendable (ResponseHead) -> BodyDisposition
}

/// How slow an exchange may be.
struct Patience: Sendable, Hashable {
    /// The longest time without one byte in either direction.
    var idleLimit: Duration
    /// The least number of bytes in each time of `idleLimit`; 0 for an answer that takes long.
    var minimumBytes: Int64
    /// The longest time in all, for what may move as little as it likes; nil where bytes are asked.
    var totalLimit: Duration?
}

/// What becomes of a response's body.
enum BodyDisposition: Sendable {
    /// Written to the sink; exactly `length` bytes.
    case file(FileSink, length: Int64)
    /// Kept, up to `limit` bytes; more is an error, or is cut off if `truncates`.
    case memory(limit: Int, truncates: Bool)
    /// Not read: the connection is closed and the response returned with its head only.
    case reject
}

/// A response whose body was treated as asked.
struct HTTPResponse: Sendable {
    let head: ResponseHead
    /// Empty unless it was kept in memory.
    let body: [UInt8]
    /// Of the request's body; nil if the answer came before all of it was sent.
    let sent: SentDigests?
}

/// What was computed while a body was sent.
struct SentDigests: Sendable, Hashable {
    let length: Int64
    let checksum: CRC64
    let md5: [UInt8]
}
