internal import LocalStorage
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// What a plan looks at: what the filter leaves, and with `--delete-excluded` what it hides on the
/// side that is changed.
struct Selection: Sendable {
    private let filter: FileFilter
    private let direction: SyncDirection
    private let deletesExcluded: Bool
    private let counter = Counter()

    private final class Counter: Sendable {
        let excluded = Atomic(0)
    }

    init(_ filter: FileFilter, _ direction: SyncDirection, deletesExcluded: Bool) {
        self.filter = filter
        self.direction = direction
        self.deletesExcluded = deletesExcluded
    }

    /// What is excluded on disk need not be walked, unless it is to be deleted there.
    var isExcludedFromWalk: DirectoryWalk.Exclusion {
        if filter.isEmpty || deletesExcluded { return { _, _ in false } }
        let filter = filter
        return { path, isDirectory in
            filter.excludes(ObjectKey(isDirectory ? path + [UInt8(ascii: "/")] : path))
        }
    }

    /// Names that were left out so far, on either side.
    var excludedCount: Int { counter.excluded.load(ordering: .relaxed) }

    /// Says that the walk or the plan left out a name.
    func countExcluded() {
        counter.excluded.add(1, ordering: .relaxed)
    }

    func isExcludedFromWalk(_ key: ObjectKey) -> Bool {
        !deletesExcluded && filter.excludes(key)
    }

    /// The entry as it is to be decided on; nil if the run leaves it alone.
    func choose(_ entry: JoinedEntry) -> JoinedEntry? {
        guard filter.excludes(entry.key) else { return entry }
        guard let chosen = chooseExcluded(entry) else {
            if entry.remote != nil || entry.local != nil { countExcluded() }
            return nil
        }
        return chosen
    }

    /// What `--delete-excluded` takes from what the filter hides.
    private func chooseExcluded(_ entry: JoinedEntry) -> JoinedEntry? {
        guard deletesExcluded else { return nil }
        // To the side that is changed it looks as if the other one had lost it, and all guards of
        // deletion hold: only what is recorded and unchanged goes.
        switch direction {
        case .pull:
            return entry.local == nil ? nil : entry.replacing(remote: nil)
        case .push:
            guard entry.remote != nil else { return nil }
            return JoinedEntry(key: entry.key, base: entry.base, local: nil, remote: entry.remote)
        case .sync:
            return nil
        }
    }
}
