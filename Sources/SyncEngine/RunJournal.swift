internal import ManifestStore
internal import SyncModel
internal import Synchronization

/// What a run did that is worth keeping: items that went wrong, were left alone or were deleted.
///
/// Gathered here without waiting and written in batches; a run in which everything goes wrong
/// keeps only the first of it, because a thousand runs are kept.
final class RunJournal: Sendable {
    private static let limit = 10_000

    private struct State {
        var waiting: [RunItem] = []
        var count = 0
    }

    private let state = Mutex(State())

    func add(_ action: ItemAction, _ itemState: ItemState, _ key: ObjectKey, _ message: String?) {
        guard !key.isEmpty else { return }
        state.withLock { state in
            guard state.count < Self.limit else { return }
            state.count += 1
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
