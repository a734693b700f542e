internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// Directories to which their owner may not write, by their markers: opened where the run is
/// refused a name in one, and closed at its end.
///
/// 1. A refusal leads to the nearest directory above the name. Only one that is as its row says is
///    opened; what a user closed stays so.
/// 2. Its row asks the marker again, before it has other permissions: a run that does not come to
///    its end leaves it to the next one, and so does one of a shard, because others may write there
///    after it.
/// 3. At the end it gets its permissions back, unless somebody gave it others meanwhile.
///
/// Not guaranteed: a directory that is closed while a run writes there.
final class ClosedDirectories: Sendable {
    private struct Closing: Sendable {
        let path: RelativePath
        /// What it is to be.
        let row: ManifestEntry
    }

    private struct Going: Sendable {
        var keys: Set<ObjectKey> = []
        var areForgotten = false
    }

    private let manifest: ManifestStore
    private let directory: MirrorDirectory
    private let disk: BlockingQueue
    /// More are closed by the next run.
    private let limit: Int
    /// False for a task of a shard, beside which others may write.
    let closesAtEnd: Bool
    private let opened = Mutex<[ObjectKey: Closing]>([:])
    /// Those that go with what they hold.
    private let goingKeys = Mutex(Going())
    private let turn = SingleFlight()

    init(
        _ transfer: TransferContext,
        _ manifest: ManifestStore,
        limit: Int,
        closesAtEnd: Bool
    ) {
        self.manifest = manifest
        self.limit = limit
        directory = transfer.directory
        disk = transfer.disk
        self.closesAtEnd = closesAtEnd
    }

    /// Runs `body`, which gives or takes the names of `paths`, and once more if a directory had to
    /// be opened for it.
    func writing<Value: Sendable>(
        _ paths: [RelativePath],
        _ body: @escaping @Sendable () throws(LocalError) -> Value
    ) async throws(LocalError) -> Value {
        do throws(LocalError) {
            return try await disk.run(body)
        } catch {
            guard error.isAccessDenied else { throw error }
            var isOpen = false
            for path in paths where await open(above: path) { isOpen = true }
            guard isOpen else { throw error }
            return try await disk.run(body)
        }
    }

    /// True if the nearest directory above the path is open now, and was not to be.
    ///
    /// What prevents it is no failure: the name that was refused is.
    func open(above path: RelativePath) async -> Bool {
        while !turn.begin() { await turn.ended() }
        defer { turn.end() }
        var next = path.parent
        while let parent = next {
            if opened.withLock({ $0[parent.key] != nil }) { return true }
            do throws(LocalError) {
                let directory = directory
                let isThere = try await disk.run { () throws(LocalError) in
                    try directory.identity(of: parent) == .directory
                }
                if isThere { return await open(parent) }
            } catch {
                return false
            }
            next = parent.parent
        }
        return false
    }

    private func open(_ path: RelativePath) async -> Bool {
        guard let row = try? await manifest.entry(path.key), let mode = row.mode,
            mode & 0o200 == 0, opened.withLock({ $0.count < limit })
        else { return false }
        let open = Self.opened(mode)
        let pending = ManifestEntry(
            marker: row.key,
            etag: row.etag,
            storageClass: row.storageClass,
            mode: open
        )
        do {
            try await manifest.record([.upsert(pending)])
            guard try await set(open, of: path, expected: mode) == open else {
                try await manifest.record([.upsert(row)])
                return false
            }
        } catch {
            // The next run asks the marker.
            return false
        }
        return closeAtEnd(path, row)
    }

    /// Keeps the row of a directory whose marker is gone, and which the deletions are to empty.
    ///
    /// If they come in a later run, that is to open it, too. False for one that needs no opening.
    func keepForDeletions(_ row: ManifestEntry) -> Bool {
        guard let mode = row.mode, mode & 0o200 == 0 else { return false }
        return goingKeys.withLock { going in
            guard going.keys.count < limit else { return false }
            going.keys.insert(row.key)
            return true
        }
    }

    /// Those whose rows were kept.
    var going: Set<ObjectKey> { goingKeys.withLock { $0.keys } }

    /// To be called once their rows are gone.
    func noteForgotten() { goingKeys.withLock { $0.areForgotten = true } }

    private static func opened(_ mode: UInt32) -> UInt32 { mode | 0o200 }

    /// Has it closed as its row says, while the manifest has the one that asks the marker again;
    /// false if there are too many.
    func closeAtEnd(_ path: RelativePath, _ row: ManifestEntry) -> Bool {
        opened.withLock { opened in
            guard opened.count < limit else { return false }
            opened[path.key] = Closing(path: path, row: row)
            return true
        }
    }

    /// Closes those that were opened; the rows of what is as it was, and why others are not.
    func close() async -> (rows: [ManifestEntry], failures: [(key: ObjectKey, LocalError)]) {
        guard closesAtEnd else { return ([], []) }
        let closings = opened.withLock { opened in
            defer { opened = [:] }
            return opened.values
        }
        let forgotten = goingKeys.withLock { $0.areForgotten ? $0.keys : [] }
        var rows: [ManifestEntry] = []
        var failures: [(key: ObjectKey, LocalError)] = []
        for closing in closings {
            guard let mode = closing.row.mode else { continue }
            do throws(LocalError) {
                let found = try await set(mode, of: closing.path, expected: Self.opened(mode))
                // By its own row, what a user gave it meanwhile is the user's change.
                if forgotten.contains(closing.row.key) { continue }
                rows.append(closing.row.replacing(mode: found ?? mode))
            } catch {
                // One that is gone was deleted by this run, or is the next one's to find.
                if case .absent = error { continue }
                failures.append((closing.row.key, error))
            }
        }
        return (rows, failures)
    }

    private func set(
        _ permissions: UInt32,
        of path: RelativePath,
        expected: UInt32
    ) async throws(LocalError) -> UInt32? {
        let directory = directory
        return try await disk.run { () throws(LocalError) in
            try directory.requireLock()
            return try directory.setPermissions(permissions, ofDirectory: path, expected: expected)
        }
    }
}
