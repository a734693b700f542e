package import SyncModel

/// Everything outside that the client needs; made at the entry point, and a fake in tests.
package struct StorageEnvironment: Sendable {
    package var now: @Sendable () -> Timestamp
    /// Throws `CancellationError` when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// From 0 to below 1.
    package var randomUnit: @Sendable () -> Double
    /// Must not block.
    package var observe: @Sendable (StorageObservation) -> Void
    /// Called on the transport's thread with bytes of bodies that were sent and received.
    ///
    /// Bytes that are sent again are negative first. Must not block. Nil: they are not counted.
    package var onBytes: (@Sendable (_ sent: Int, _ received: Int) -> Void)?

    package init(
        now: @escaping @Sendable () -> Timestamp,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        randomUnit: @escaping @Sendable () -> Double,
        observe: @escaping @Sendable (StorageObservation) -> Void
    ) {
        self.now = now
        self.sleep = sleep
        self.randomUnit = randomUnit
        self.observe = observe
    }
}

/// What the client tells of its work.
package enum StorageObservation: Sendable {
    case requestSent
    /// What time it is by the service's clock, as it says with each page of a listing.
    case serviceTime(Timestamp)
    case throttled(retryAfter: Duration?)
    /// A request succeeded, or got an answer that no repetition would change.
    case answered
    /// The local clock is wrong by this much; signatures use the server's from now on.
    case clockCorrected(offsetSeconds: Int64)
    /// The service knows no conditions on writes: what another writer puts at the same time may be
    /// overwritten.
    case conditionsUnsupported
    /// An object was replaced, and not all that another tool put on it could be kept.
    case metadataLeftOut(ObjectKey)
    /// An attempt failed and is repeated after a pause.
    case retrying(RetryNotice)
}

/// An attempt that failed and is repeated.
package struct RetryNotice: Sendable {
    package let error: StorageError
    /// Which repetition it is, from 1, and how many there may be.
    package let attempt: Int
    package let limit: Int
    package let pause: Duration
    /// True if all requests wait for it, because there is no connection.
    package let isOutage: Bool
}
