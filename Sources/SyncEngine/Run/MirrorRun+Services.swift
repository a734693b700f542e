internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// Tasks that run concurrently with the transfers.
extension MirrorRun {
    private static let progressInterval = Duration.milliseconds(200)
    private static let journalInterval = Duration.seconds(1)

    /// Writes the journal from time to time, so that a kill takes little of it.
    private func keepJournal(_ parts: Parts) async {
        let (context, ledger) = (parts.context, parts.ledger)
        while !Task.isCancelled {
            do {
                try await settings.environment.sleep(Self.journalInterval)
                try await context.journal.flush(to: session.manifest, run: context.run)
            } catch let error as ManifestError {
                return ledger.stop(SyncError(error))
            } catch {
                return
            }
        }
    }

    /// What the store observes of this run's requests becomes its events.
    func attachSignal(_ parts: Parts) {
        let (prefix, onEvent) = (settings.prefix, onEvent)
        settings.storeObserver.attach(
            limiter: limiter,
            clocks: parts.context.clocks,
            onWarning: { onEvent(.warning(message: $0)) },
            onRetry: { onEvent(.retry(RetryEvent($0, prefix: prefix))) }
        )
    }

    /// Runs `body` beside the regular publication and the progress reports.
    func withServices(
        _ parts: Parts,
        _ body: @escaping @Sendable () async throws -> Void
    ) async throws {
        let (tracker, publications) = (parts.context.tracker, parts.publications)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await publications.publishRegularly() }
            group.addTask { await keepJournal(parts) }
            group.addTask { await Housekeeping(context: parts.context).sweepTrash() }
            group.addTask {
                while !Task.isCancelled {
                    do {
                        try await settings.environment.sleep(Self.progressInterval)
                    } catch {
                        return
                    }
                    onEvent(.progress(tracker.snapshot()))
                }
            }
            defer { group.cancelAll() }
            try await body()
        }
        onEvent(.progress(tracker.snapshot()))
    }
}

/// How often requests were made, so far.
struct SignalCounts {
    private let requests: Int
    private let retries: Int
    private let throttled: Int
    private let throttledTime: Duration

    init(_ storeObserver: StoreObserver) {
        requests = storeObserver.requestCount
        retries = storeObserver.retryCount
        throttled = storeObserver.throttledCount
        throttledTime = storeObserver.throttledTime
    }

    func add(to summary: inout RunSummary, since before: SignalCounts) {
        summary.requests = requests - before.requests
        summary.retries = retries - before.retries
        summary.throttled = throttled - before.throttled
        summary.throttledSeconds = (throttledTime - before.throttledTime).inSeconds
    }
}
