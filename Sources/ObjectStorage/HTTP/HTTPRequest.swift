package import SyncModel

/// One request, ready to be sent.
package struct HTTPRequest: Sendable {
    package var method: HTTPMethod
    /// Percent-encoded and sent as it is, dot segments too.
    package var url: String
    package var headers: [(name: String, value: String)]
    package var body: RequestBody
    /// The MD5 of the body is computed beside its CRC-64, which takes several times as long.
    package var computesMD5 = false
    /// What the body of a good answer has at most; nil if that is not known.
    package var answerLength: Int64?
    package var stallLimits: StallLimits
    /// False: the transport must not send the request a second time on its own when a reused
    /// connection turns out to be dead.
    package var isReplayable: Bool
    /// True after a failure: no connection that may be half dead is used again.
    package var needsFreshConnection: Bool
    /// Called on the transport's thread with the bytes taken from the body; negative when they are
    /// sent again.
    package var onSent: @Sendable (Int) -> Void
    /// Called on the transport's thread when the head has come and before any byte of the body.
    package var classify: @Sendable (ResponseHead) -> BodyDisposition
    /// Called on the transport's thread with the bytes of the response's body; nil: nobody counts.
    package var onReceived: (@Sendable (Int) -> Void)?

    /// Reports the bytes of both bodies to a counter, too.
    mutating func count(
        _ onBytes: @escaping @Sendable (_ sent: Int, _ received: Int) -> Void
    ) {
        let report = onSent
        onSent = { count in
            onBytes(count, 0)
            report(count)
        }
        onReceived = { onBytes(0, $0) }
    }
}

/// How slow an exchange may be.
package struct StallLimits: Sendable, Hashable {
    /// The longest time without one byte in either direction.
    package var idleLimit: Duration
    /// The least number of bytes in each time of `idleLimit`; 0 for an answer that takes long.
    package var minimumBytes: Int64
    /// The longest time in all, for what may move as little as it likes; nil where bytes are asked.
    package var totalLimit: Duration?
}

/// What becomes of a response's body.
package enum BodyDisposition: Sendable {
    /// Written to the sink; exactly `length` bytes.
    case file(FileSink, length: Int64)
    /// The same, once there is a sink.
    case later(LateSink, length: Int64)
    /// Kept, up to `limit` bytes; more is an error, or is cut off if `truncates`.
    case memory(limit: Int, truncates: Bool)
    /// Not read: the connection is closed and the response returned with its head only.
    case reject
}

/// A response whose body was treated as asked.
package struct HTTPResponse: Sendable {
    package internal(set) var head: ResponseHead
    /// Empty unless it was kept in memory.
    package let body: [UInt8]
    /// Of the request's body; nil if the answer came before all of it was sent.
    package let sent: SentDigests?
}

/// What was computed while a body was sent.
package struct SentDigests: Sendable, Hashable {
    package let length: Int64
    package let checksum: CRC64
    /// Nil unless it was asked for.
    package let md5: [UInt8]?
}
