internal import ManifestStore
internal import SyncModel
internal import Synchronization

/// What a run did that is worth keeping: items that failed, were skipped or were deleted.
///
/// Gathered here without waiting and written in batches. A run in which everything goes wrong keeps
/// only the first of them: items that are skipped in each run would fill the manifest.
final class RunJournal: Sendable {
    private static let limit = 5_000
    /// Of keys and messages.
    private static let byteLimit = 1 << 20

    private struct State {
        var waiting: [RunItem] = []
        var count = 0
        var bytes = 0
    }

    private let state = Mutex(State())

    func add(_ action: ItemAction, _ itemState: ItemState, _ key: ObjectKey, _ message: String?) {
        guard !key.isEmpty else { return }
        let bytes = key.bytes.count + (message?.utf8.count ?? 0)
        state.withLock { state in
            guard state.count < Self.limit, state.bytes < Self.byteLimit else { return }
            state.count += 1
            state.bytes += bytes
            state.waiting.append(
                RunItem(
                    key: key,
                    action: action.rawValue,
                    state: itemState.rawValue,
                    message: message
                )
            )
        }
    }

    /// Writes what was gathered.
    func flush(to manifest: ManifestStore, run: RunID) async throws(ManifestError) {
        let items = state.withLock { state in
            let items = state.waiting
            state.waiting = []
            return items
        }
        try await manifest.recordItems(run, items)
    }
}
