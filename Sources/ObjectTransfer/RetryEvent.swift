package import ObjectStorage
package import SyncModel

/// A failed request that is retried after a pause.
public struct RetryEvent: Sendable, Hashable {
    /// The request, as the service calls it.
    public var operation: String
    /// The key relative to the remote's prefix, safe to print; nil for a listing.
    public var key: String?
    /// Which repetition it is, from 1.
    public var attempt: Int
    /// How many repetitions there may be.
    public var limit: Int
    /// The pause before it, in seconds.
    public var wait: Double
    /// Why the request failed, safe to print.
    public var cause: String
    /// True if there is no connection, so that all requests wait for this one.
    public var isOutage: Bool

    package init(
        operation: String,
        key: String?,
        attempt: Int,
        limit: Int,
        wait: Double,
        cause: String,
        isOutage: Bool
    ) {
        self.operation = operation
        self.key = key
        self.attempt = attempt
        self.limit = limit
        self.wait = wait
        self.cause = cause
        self.isOutage = isOutage
    }
}

extension RetryEvent {
    package init(_ notice: RetryNotice, prefix: ObjectKey) {
        let key = notice.error.key.map { key in
            key.hasPrefix(prefix) ? ObjectKey(key.bytes.dropFirst(prefix.bytes.count)) : key
        }
        self.init(
            operation: notice.error.operation,
            key: key?.display,
            attempt: notice.attempt,
            limit: notice.limit,
            wait: notice.pause / .seconds(1),
            cause: notice.error.cause,
            isOutage: notice.isOutage
        )
    }
}
