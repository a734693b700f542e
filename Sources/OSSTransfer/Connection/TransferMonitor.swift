internal import ObjectStorage
public import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Counts the requests of everything whose ``ConnectionSettings/monitor`` it is, and says what an
/// app may want to log.
///
/// ```swift
/// let monitor = TransferMonitor { level, message, metadata in
///     print(level.rawValue, message, metadata)
/// }
/// configuration.connection.monitor = monitor
/// ```
///
/// Levels and metadata have the shape of swift-log: `Logger.Level(rawValue: level.rawValue)` is the
/// same level. Keys and messages are safe to print; no secret stands in any of them. Runs of a
/// mirror are not counted: they report events and a summary of their own.
public final class TransferMonitor: Sendable {
    /// How important a message is; the raw values are those of swift-log.
    @nonexhaustive
    public enum Level: String, Sendable, Hashable {
        /// What a transfer does.
        case info
        /// What is unusual and no failure.
        case notice
        /// What went wrong and is tried again.
        case warning
    }

    /// What was counted so far.
    public struct Counters: Sendable, Hashable {
        /// HTTP requests that were sent, repetitions included.
        public internal(set) var requests = 0
        /// Failed requests that were repeated.
        public internal(set) var retries = 0
        /// Answers that asked for fewer requests.
        public internal(set) var throttled = 0
        /// Bytes of bodies that were sent, repetitions included.
        public internal(set) var bytesSent: Int64 = 0
        /// Bytes of bodies that were received, repetitions included.
        public internal(set) var bytesReceived: Int64 = 0
        /// The pauses before repetitions and after lost connections; those of several requests at
        /// once are added.
        public internal(set) var waits = Duration.zero
    }

    /// Receives a message; called from any thread, and must not block.
    public typealias Log =
        @Sendable (_ level: Level, _ message: String, _ metadata: [String: String]) -> Void

    private let state = Mutex(Counters())
    private let onRetry: (@Sendable (RetryEvent) -> Void)?
    private let log: Log?

    /// Creates a monitor that has counted nothing.
    ///
    /// - Parameters:
    ///   - log: Receives messages; nil for none.
    ///   - onRetry: Called from any thread for each failed request that is repeated.
    public init(log: Log? = nil, onRetry: (@Sendable (RetryEvent) -> Void)? = nil) {
        self.onRetry = onRetry
        self.log = log
    }

    /// What was counted so far; it only grows.
    public var counters: Counters { state.withLock { $0 } }

    func observe(_ observation: StorageObservation) {
        switch observation {
        case .requestSent: state.withLock { $0.requests += 1 }
        case .throttled: state.withLock { $0.throttled += 1 }
        case .retrying(let notice):
            state.withLock { counters in
                counters.retries += 1
                counters.waits += notice.pause
            }
            let event = RetryEvent(notice, prefix: ObjectKey([]))
            onRetry?(event)
            guard let log else { return }
            var metadata = [
                "operation": event.operation, "attempt": "\(event.attempt)",
                "limit": "\(event.limit)", "wait": "\(event.wait)",
            ]
            metadata["key"] = event.displayKey
            log(.warning, "\(event.operation) failed: \(event.cause)", metadata)
        case .clockCorrected(let seconds):
            log?(
                .notice,
                "requests use the service's clock, because this machine's is wrong",
                ["seconds": "\(seconds)"]
            )
        case .conditionsUnsupported:
            log?(.notice, "the store supports no conditions on writes", [:])
        case .metadataLeftOut(let key):
            log?(.notice, "metadata of a replaced object was not kept", ["key": key.display])
        case .answered, .serviceTime: break
        }
    }

    func count(sent: Int, received: Int) {
        state.withLock { counters in
            // A repetition takes back what it sends again, which left this machine all the same.
            counters.bytesSent += Int64(max(0, sent))
            counters.bytesReceived += Int64(received)
        }
    }

    /// Says what happens to a transfer.
    func note(_ notice: TransferNotice, of subject: String) {
        if case .waiting(let pause, _) = notice { state.withLock { $0.waits += pause } }
        let level: Level =
            switch notice {
            case .resumed: .info
            case .startedOver, .warning: .notice
            case .waiting: .warning
            }
        log?(level, notice.description, ["transfer": subject])
    }
}

extension TransferMonitor: Hashable {
    /// True for one object only.
    public static func == (left: TransferMonitor, right: TransferMonitor) -> Bool {
        left === right
    }

    /// Hashes the object's identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension ConnectionSettings {
    /// The real clocks, and the monitor if there is one.
    var environment: StorageEnvironment {
        SystemClocks.storage(monitor) { _ in }
    }
}

extension TransferMonitor? {
    /// Passes notices on, and says them to the monitor.
    func noting(
        _ subject: String,
        _ onNotice: @escaping @Sendable (TransferNotice) -> Void
    ) -> @Sendable (TransferNotice) -> Void {
        guard let monitor = self else { return onNotice }
        return { notice in
            monitor.note(notice, of: subject)
            onNotice(notice)
        }
    }
}
