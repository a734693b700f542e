internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// Tasks that run concurrently with the transfers.
struct RunServices: RunStep {
    let executor: ItemExecutor

    var setup: RunSetup { executor.context.setup }
    private var context: RunContext { executor.context }

    private static let progressInterval = Duration.milliseconds(200)
    private static let journalInterval = Duration.seconds(1)

    /// Writes the journal from time to time, so that a kill takes little of it.
    private func keepJournal() async {
        while !Task.isCancelled {
            do {
                try await settings.environment.sleep(Self.journalInterval)
                try await context.journal.flush(to: session.manifest, run: context.run)
            } catch let error as ManifestError {
                return executor.ledger.stop(TransferError(error))
            } catch {
                return
            }
        }
    }

    /// Runs `body` beside the regular publication and the progress reports.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        let (tracker, publications) = (context.tracker, executor.publications)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await publications.publishRegularly() }
            group.addTask { await keepJournal() }
            group.addTask { await Housekeeping(context: context).sweepTrash() }
            group.addTask {
                while !Task.isCancelled {
                    do {
                        try await settings.environment.sleep(Self.progressInterval)
                    } catch {
                        return
                    }
                    setup.onEvent(.progress(tracker.snapshot()))
                }
            }
            defer { group.cancelAll() }
            try await body()
        }
        setup.onEvent(.progress(tracker.snapshot()))
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
