internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// One part of a cut mirror, which a run is limited to.
struct Shard: Sendable {
    let number: Int
    let range: KeyRange
    let cutting: Cutting
    /// What is skipped in all shards of this round.
    let rules: RoundRules?
    /// The lock of the mirror as a whole, if this process has it.
    let whole: DirectoryLock?
    /// What the run found, for the step that ends the round.
    let outcome: ShardOutcome?
    /// True for the run that carries out what an earlier one has planned to delete.
    var isFinishing = false

    /// The names that lead from the mirror's state to this one's.
    var folder: [String] { cutting.folder(number) }

    /// The manifest of the shard that has a key, to look at.
    ///
    /// - Returns: Nil if there is none, or one that the next run begins anew.
    func manifest(
        with key: ObjectKey,
        in directory: MirrorDirectory,
        _ environment: EngineEnvironment
    ) async throws -> ManifestStore? {
        let names = cutting.folder(cutting.number(of: key))
        let folder = try directory.sharedState.folder(names, makes: false)
        guard let path = folder?.path else { return nil }
        switch try await ManifestStore.inspect(
            directory: path,
            hasLocks: directory.hasRecordLocks(),
            threads: environment.threads
        ) {
        case .opened(let manifest): return manifest
        case .absent, .damaged: return nil
        case .unfinished: throw ManifestError.inUse(path: path)
        }
    }
}

/// What a run of a shard leaves in memory for its result.
final class ShardOutcome: Sendable {
    struct Found: Sendable {
        var check: DeletionGuard
        /// Downloads that wait for deletions.
        var waiting: Int
        /// True if a completed deletion of extra items would confirm a rebuilt manifest.
        var mayConfirm: Bool
        /// What the manifest has at the end.
        var recorded: Int
    }

    private let state = Mutex<Found?>(nil)

    var found: Found? { state.withLock { $0 } }

    func note(_ found: Found) { state.withLock { $0 = found } }
}
