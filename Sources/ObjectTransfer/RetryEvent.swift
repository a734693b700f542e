package import ObjectStorage
package import SyncModel

/// A failed request that is retried after a pause.
public struct RetryEvent: Sendable, Hashable {
    /// The request, as the service calls it.
    public var operation: String
    /// The key, of a mirror's runs relative to the remote's prefix; nil for a listing.
    public var key: String?
    /// The key in a form that is safe to print.
    public var displayKey: String?
    /// Which repetition it is, from 1.
    public var attempt: Int
    /// How many repetitions there may be.
    public var limit: Int
    /// The pause before it.
    public var wait: Duration
    /// Why the request failed, safe to print.
    public var cause: String
    /// True if there is no connection, so that all requests wait for this one.
    public var isOutage: Bool

    package init(
        operation: String,
        key: String?,
        displayKey: String? = nil,
        attempt: Int,
        limit: Int,
        wait: Duration,
        cause: String,
        isOutage: Bool
    ) {
        self.operation = operation
        self.key = key
        self.displayKey = displayKey ?? key.map { displayText($0.utf8) }
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
            key: key?.text,
            displayKey: key?.display,
            attempt: notice.attempt,
            limit: notice.limit,
            wait: notice.pause,
            cause: notice.error.cause,
            isOutage: notice.isOutage
        )
    }
}
