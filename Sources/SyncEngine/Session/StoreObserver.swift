package import ObjectStorage
package import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Carries what the storage client observes to the run that is under way.
///
/// The client is made before the run and outlives it; `attach` sets the listeners for one run.
package final class StoreObserver: Sendable {
    private struct Listeners {
        var limiter: ConnectionLimiter?
        var clocks: RunClocks?
        var onWarning: (@Sendable (String) -> Void)?
        var onRetry: (@Sendable (RetryNotice) -> Void)?
        var hasWarnedOfClock = false
    }

    private let requests = Atomic<Int>(0)
    private let retries = Atomic<Int>(0)
    private let throttlings = Atomic<Int>(0)
    private let throttledMilliseconds = Atomic<Int64>(0)
    private let listeners = Mutex(Listeners())

    /// What fails again and again, also from one run of a `watch` to the next.
    let failures: FailureStreaks

    private let onUnattended: @Sendable (RetryNotice) -> Void

    /// - Parameters:
    ///   - failures: What failed in earlier runs.
    ///   - onUnattended: Called for retried requests while no run listens.
    package init(
        failures: FailureStreaks = FailureStreaks(),
        onUnattended: @escaping @Sendable (RetryNotice) -> Void = { _ in }
    ) {
        self.failures = failures
        self.onUnattended = onUnattended
    }

    /// Requests sent so far, retries included.
    package var requestCount: Int { requests.load(ordering: .relaxed) }

    /// Failed requests that were retried, so far.
    var retryCount: Int { retries.load(ordering: .relaxed) }
    /// Answers that asked for less, so far.
    var throttledCount: Int { throttlings.load(ordering: .relaxed) }

    /// How long requests waited so far after such answers, all together.
    var throttledTime: Duration {
        .milliseconds(throttledMilliseconds.load(ordering: .relaxed))
    }

    func attach(
        limiter: ConnectionLimiter,
        clocks: RunClocks,
        onWarning: @escaping @Sendable (String) -> Void,
        onRetry: @escaping @Sendable (RetryNotice) -> Void
    ) {
        listeners.withLock {
            $0 = Listeners(
                limiter: limiter,
                clocks: clocks,
                onWarning: onWarning,
                onRetry: onRetry
            )
        }
    }

    func detach() {
        listeners.withLock { $0 = Listeners() }
    }

    /// Takes one observation; never blocks.
    package func observe(_ observation: StorageObservation) {
        switch observation {
        case .requestSent:
            requests.add(1, ordering: .relaxed)
        case .answered:
            listeners.withLock { $0.limiter }?.succeeded()
        case .serviceTime(let time):
            listeners.withLock { $0.clocks }?.learn(time)
        case .throttled:
            throttlings.add(1, ordering: .relaxed)
            listeners.withLock { $0.limiter }?.throttled()
        case .clockCorrected(let seconds):
            let warn = listeners.withLock { listeners in
                defer { listeners.hasWarnedOfClock = true }
                return listeners.hasWarnedOfClock ? nil : listeners.onWarning
            }
            warn?(
                "this machine's clock is \(abs(seconds)) s \(seconds > 0 ? "behind" : "ahead of") "
                    + "the service's; requests use the service's clock; correct this machine's"
            )
        case .conditionsUnsupported:
            listeners.withLock { $0.onWarning }?(
                "the service does not support conditional writes: what another writer uploads "
                    + "during this run may be overwritten"
            )
        case .metadataLeftOut(let key):
            listeners.withLock { $0.onWarning }?(
                "some metadata that another tool set on '\(key.display)' (and perhaps on other "
                    + "objects) could not be kept for the new version: it is not printable ASCII, "
                    + "or there is too much of it"
            )
        case .retrying(let notice):
            retries.add(1, ordering: .relaxed)
            if notice.error.isThrottled {
                let pause = Int64(notice.pause / .milliseconds(1))
                throttledMilliseconds.add(pause, ordering: .relaxed)
            }
            if case .transport(let error) = notice.error.kind,
                error == .stalled || error == .timedOut
            {
                listeners.withLock { $0.limiter }?.timedOut()
            }
            let notify = listeners.withLock { $0.onRetry } ?? onUnattended
            notify(notice)
        }
    }
}
