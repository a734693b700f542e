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
///    its end leaves it to the next one.
/// 3. At the end it gets its permissions back, unless somebody gave it others meanwhile.
///
/// The row of a directory may be in the manifest of another shard. Then the marker itself is asked,
/// and a list of this shard has the name while the directory is open (`OpenedDirectories`). A run
/// of another shard may close it meanwhile: what is refused then opens it once more.
///
/// Not guaranteed: a directory that is closed while a run writes there.
final class ClosedDirectories: Sendable {
    private struct Closing: Sendable {
        let path: RelativePath
        let mode: UInt32
        /// What it is to be; nil for one whose row another shard has.
        let row: ManifestEntry?
    }

    private struct Going: Sendable {
        var keys: Set<ObjectKey> = []
        var areForgotten = false
    }

    /// How often something is tried again that runs of other shards may have refused by closing a
    /// directory in between.
    static let attempts = 5

    private let manifest: ManifestStore
    private let transfer: TransferContext
    private let directory: MirrorDirectory
    private let disk: BlockingQueue
    /// More are closed by the next run.
    private let limit: Int
    /// What this shard has opened of others; nil for a mirror that is not cut.
    private let elsewhere: OpenedDirectories?
    /// The keys of this shard.
    private let range: KeyRange
    private let opened = Mutex<[ObjectKey: Closing]>([:])
    /// Those that go with what they hold.
    private let goingKeys = Mutex(Going())
    private let turn = SingleFlight()

    init(
        _ transfer: TransferContext,
        _ manifest: ManifestStore,
        limit: Int,
        shard: Shard?
    ) {
        self.manifest = manifest
        self.transfer = transfer
        self.limit = limit
        directory = transfer.directory
        disk = transfer.disk
        range = shard?.range ?? .all
        elsewhere = shard.map { OpenedDirectories(of: $0.folder, in: transfer.directory) }
    }

    /// Runs `body`, which gives or takes the names of `paths`, and again if a directory had to be
    /// opened for it.
    func writing<Value: Sendable>(
        _ paths: [RelativePath],
        _ body: @escaping @Sendable () throws(LocalError) -> Value
    ) async throws(LocalError) -> Value {
        for _ in 0..<Self.attempts {
            do throws(LocalError) {
                return try await disk.run(body)
            } catch {
                guard error.isAccessDenied else { throw error }
                var isOpen = false
                for path in paths where await open(above: path) { isOpen = true }
                guard isOpen else { throw error }
            }
        }
        return try await disk.run(body)
    }

    /// True if the nearest directory above the path is open now, and was not to be.
    ///
    /// What prevents it is no failure: the name that was refused is.
    func open(above path: RelativePath) async -> Bool {
        while !turn.begin() { await turn.ended() }
        defer { turn.end() }
        var next = path.parent
        while let parent = next {
            if let closing = opened.withLock({ $0[parent.key] }) { return await isOpen(closing) }
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

    /// Opens it once more if a run of another shard has closed it.
    private func isOpen(_ closing: Closing) async -> Bool {
        let open = Self.opened(closing.mode)
        do throws(LocalError) {
            let found = try await set(open, of: closing.path, expected: closing.mode)
            // What has other permissions than both was opened, or changed by a user.
            return found ?? open == open
        } catch {
            return false
        }
    }

    private func open(_ path: RelativePath) async -> Bool {
        guard range.contains(path.key) else { return await openElsewhere(path) }
        guard let row = try? await manifest.entry(path.key), let mode = row.mode,
            mode & 0o200 == 0, opened.withLock({ $0.count < limit })
        else { return false }
        let pending = ManifestEntry(
            marker: row.key,
            etag: row.etag,
            storageClass: row.storageClass,
            mode: Self.opened(mode)
        )
        do {
            try await manifest.record([.upsert(pending)])
            guard try await setOpen(path, mode) else {
                try await manifest.record([.upsert(row)])
                return false
            }
        } catch {
            // The next run asks the marker.
            return false
        }
        return closeAtEnd(path, row)
    }

    /// The same for one whose row another shard has.
    private func openElsewhere(_ path: RelativePath) async -> Bool {
        do {
            guard elsewhere != nil, let mode = try await modeOfMarker(path), mode & 0o200 == 0,
                opened.withLock({ $0.count < limit })
            else { return false }
            try list(path.key, mode)
            guard try await setOpen(path, mode) else {
                noteClosed([path.key], [])
                return false
            }
            opened.withLock { $0[path.key] = Closing(path: path, mode: mode, row: nil) }
            return true
        } catch {
            return false
        }
    }

    /// True if it is open, also if a run of another shard that was refused a name was faster.
    private func setOpen(_ path: RelativePath, _ mode: UInt32) async throws(LocalError) -> Bool {
        let open = Self.opened(mode)
        if try await set(open, of: path, expected: mode) == open { return true }
        guard elsewhere != nil else { return false }
        return try await set(open, of: path, expected: open) == open
    }

    /// True if the row of a directory is one of this shard.
    func owns(_ key: ObjectKey) -> Bool { range.contains(key) }

    /// Makes a directory whose row another shard has, with the permissions that it has by its
    /// marker from the end of the run on.
    func make(_ path: RelativePath, permissions: UInt32) async throws {
        let (directory, open) = (directory, Self.opened(permissions))
        // Where too many are open, it is closed from the start, and takes no file.
        let isOpened = open != permissions && opened.withLock { $0.count < limit }
        if isOpened {
            while !turn.begin() { await turn.ended() }
            defer { turn.end() }
            try list(path.key, permissions)
        }
        try await writing([path]) { () throws(LocalError) in
            try directory.makeDirectory(path, permissions: isOpened ? open : permissions)
        }
        guard isOpened else { return }
        opened.withLock { $0[path.key] = Closing(path: path, mode: permissions, row: nil) }
    }

    private func list(_ key: ObjectKey, _ mode: UInt32) throws {
        let others = try (elsewhere?.own() ?? []).filter { $0.key != key }
        try elsewhere?.write(others + [OpenedDirectories.Item(key: key, mode: mode)])
    }

    /// False if the directory has these permissions only because a run of some shard has opened it,
    /// or has them no more.
    ///
    /// To be asked right before they are sent: between the walk and this, others may have opened
    /// it, and closed it again.
    func areChosen(_ permissions: UInt32, _ key: ObjectKey) async throws -> Bool {
        guard let elsewhere else { return true }
        let path = try RelativePath(key: key)
        // What is closed is in no list any more, but has other permissions by then.
        for _ in 0..<2 {
            let found = try await set(permissions, of: path, expected: permissions)
            guard found != nil, try !elsewhere.isOpened(key, permissions) else { return false }
        }
        return true
    }

    /// The permissions that a directory has by its marker; nil if that says nothing of them.
    private func modeOfMarker(_ path: RelativePath) async throws -> UInt32? {
        let marker = try await transfer.metadata(path.key, knownSize: 0)
        guard let mode = FileMode.of(marker, .directory) else { return nil }
        let directory = directory
        return try await disk.run { () throws(LocalError) in
            try directory.permissions(ofMarker: mode)
        }
    }

    /// Closes what a run of this shard that was killed has left open, and has no row of.
    func closeLeft() async throws {
        guard let elsewhere, let list = try elsewhere.own() else { return }
        var left: [OpenedDirectories.Item] = []
        for item in list {
            guard let path = try? RelativePath(path: item.key) else { continue }
            do throws(LocalError) {
                // What has other permissions is nobody's to close.
                _ = try await set(item.mode, of: path, expected: Self.opened(item.mode))
            } catch {
                if !Self.isGone(error) { left.append(item) }
            }
        }
        try elsewhere.write(left)
    }

    /// True for one that was deleted, or became a file.
    private static func isGone(_ error: LocalError) -> Bool {
        switch error {
        case .absent, .parentIsFile: true
        default: false
        }
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
            opened[path.key] = Closing(path: path, mode: row.mode ?? 0, row: row)
            return true
        }
    }

    /// Closes those that were opened; the rows of what is as it was, and why others are not.
    func close() async -> (rows: [ManifestEntry], failures: [(key: ObjectKey, LocalError)]) {
        let closings = opened.withLock { opened in
            defer { opened = [:] }
            return opened.values
        }
        let forgotten = goingKeys.withLock { $0.areForgotten ? $0.keys : [] }
        var rows: [ManifestEntry] = []
        var failures: [(key: ObjectKey, LocalError)] = []
        for closing in closings {
            let mode = closing.mode
            do throws(LocalError) {
                let found = try await set(mode, of: closing.path, expected: Self.opened(mode))
                // By its own row, what a user gave it meanwhile is the user's change.
                guard let row = closing.row, !forgotten.contains(row.key) else { continue }
                rows.append(row.replacing(mode: found ?? mode))
            } catch {
                // One that is gone was deleted by this run, or is the next one's to find.
                if !Self.isGone(error) { failures.append((closing.path.key, error)) }
            }
        }
        noteClosed(closings.filter { $0.row == nil }.map(\.path.key), failures.map(\.key))
        return (rows, failures)
    }

    /// What stays in the list is closed by the next run.
    private func noteClosed(_ keys: [ObjectKey], _ failed: [ObjectKey]) {
        guard !keys.isEmpty, let list = try? elsewhere?.own() else { return }
        let left = list.filter { !keys.contains($0.key) || failed.contains($0.key) }
        try? elsewhere?.write(left)
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
