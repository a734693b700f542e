internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// What the items of a run leave behind for its end: whether it must stop, and what holds
/// deletions back.
final class RunLedger: Sendable {
    private struct State {
        var stop: SyncError?
        var failed = 0
        var skipped = 0
        var cancelled = 0
        var vanished = 0
        var vanishedFiles = 0
        var doubtful = 0
        var deferred: [Deferred] = []
    }

    /// A download that waits for the run's deletions.
    struct Deferred: Sendable {
        let entry: JoinedEntry
        /// What is in its place until then.
        let obstacle: SkipReason
    }

    /// Downloads that wait for deletions are rare; more than this are left to the next run.
    private static let deferredLimit = 10_000

    private let state = Mutex(State())

    /// The first reason to end the run, nil while there is none.
    var stop: SyncError? { state.withLock { $0.stop } }
    var failedItems: Int { state.withLock { $0.failed } }
    var skippedItems: Int { state.withLock { $0.skipped } }
    /// Items that a cancellation ended.
    var cancelledItems: Int { state.withLock { $0.cancelled } }
    var vanishedItems: Int { state.withLock { $0.vanished } }
    /// Files of vanished objects that the run would have deleted had the listing been later.
    var vanishedFiles: Int { state.withLock { $0.vanishedFiles } }
    /// Files that a power cut may have damaged, and that were left as they are.
    var doubtfulFiles: Int { state.withLock { $0.doubtful } }
    var deferred: [Deferred] { state.withLock { $0.deferred } }

    func stop(_ error: SyncError) {
        state.withLock { $0.stop = $0.stop ?? error }
    }

    func countFailed() { state.withLock { $0.failed += 1 } }
    func countCancelled() { state.withLock { $0.cancelled += 1 } }
    func countVanished() { state.withLock { $0.vanished += 1 } }
    func countVanishedFile() { state.withLock { $0.vanishedFiles += 1 } }
    func countDoubtful() { state.withLock { $0.doubtful += 1 } }
    func countSkipped() { state.withLock { $0.skipped += 1 } }

    /// False if there are too many already.
    func deferDownload(_ entry: JoinedEntry, behind obstacle: SkipReason) -> Bool {
        state.withLock { state in
            guard state.deferred.count < Self.deferredLimit else { return false }
            state.deferred.append(Deferred(entry: entry, obstacle: obstacle))
            return true
        }
    }
}
