internal import LocalStorage
internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

/// Drops rows that came from another directory, or from this one before it was rolled back, and do
/// not match: what is missing is never treated as deleted, and what differs is never treated as an
/// edit.
///
/// A restored directory is older than the manifest. Its files would replace newer objects.
///
/// No entry is handed on before the manifest has forgotten it: what the run does then records a row
/// of its own.
struct StaleRows {
    private static let batch = 1_000

    private let session: MirrorSession
    private let scope: PlanScope
    private let issues: ScanIssues
    private let disk: BlockingQueue
    /// False where neither inodes nor ctimes last.
    private let judgesInodes: Bool
    private let now: Timestamp
    private let onRolledBack: (_ mount: [UInt8]) -> Void
    /// Of the directory of the last file that is gone.
    private var lastChange: (directory: RelativePath?, change: Timestamp?)?
    /// What is not handed on yet, and what of it the manifest is to forget.
    private var waiting: [JoinedEntry] = []
    private var forgotten: [ManifestChange] = []

    init(
        session: MirrorSession,
        scope: PlanScope,
        issues: ScanIssues,
        threads: BlockingThreads,
        now: Timestamp,
        onRolledBack: @escaping (_ mount: [UInt8]) -> Void
    ) {
        self.session = session
        judgesInodes = (try? session.directory.keepsInodeNumbers()) ?? true
        self.now = now
        self.onRolledBack = onRolledBack
        disk = BlockingQueue(label: "osssync.forget", width: 1, threads: threads)
        self.scope = scope
        self.issues = issues
    }

    /// True if it hands on every entry as it is, at once.
    var isIdle: Bool { session.known.isSame && !issues.hasForeignMounts && waiting.isEmpty }

    /// The entries that can be decided on now, in order, once this one was found; ``flush()``
    /// returns the last ones.
    mutating func entries(_ found: JoinedEntry) async throws(ManifestError) -> [JoinedEntry] {
        if await isOlder(found) {
            let mount = session.known.mountPoints
                .filter { found.key.hasPrefix(ObjectKey($0 + [UInt8(ascii: "/")])) }
                .max { $0.count < $1.count }
            if issues.addRolledBack(mount ?? []) { onRolledBack(mount ?? []) }
        }
        guard !isIdle else { return [found] }
        waiting.append(await entry(found))
        return waiting.count < Self.batch ? [] : try await flush()
    }

    /// The entry to decide on.
    private mutating func entry(_ entry: JoinedEntry) async -> JoinedEntry {
        if scope.holds(entry) { return entry }
        let isForeign = issues.isOnForeignMount(entry.key)
        // The mark of a damaged one would go with it.
        guard let base = entry.base, !base.isDamaged, isForeign || !session.known.isSame
        else { return entry }
        if !scope.looks(at: entry, issues) {
            // No walk saw it, and nothing is decided on it in this run.
            if await isAsRecorded(base) { return entry }
        } else if entry.local == nil {
            if entry.remote == nil { return entry }
        } else if isForeign
            ? LocalChange(of: entry.local, since: base, judgesInodes: true) == .same
            : Self.isAsRecorded(entry.local, base)
        {
            return entry
        }
        forgotten.append(.forget(entry.key))
        return entry.withoutBase
    }

    /// True for what shows that its disk was rolled back: a file that last changed before it was
    /// recorded, or one that is gone although no name went since.
    ///
    /// No program sets a ctime, but the clock goes back: what was recorded in the future tells
    /// nothing. Nor does a disk that has the state, which would have been rolled back with it.
    private mutating func isOlder(_ entry: JoinedEntry) async -> Bool {
        guard judgesInodes, session.known.isSame, let base = entry.base, !base.isLeftOut,
            let recorded = base.changed, recorded <= now.nanosecondsSince1970,
            !issues.isOnForeignMount(entry.key)
        else { return false }
        let second: Int64 = 1_000_000_000
        if let file = entry.local?.identity {
            guard let change = file.recordedChange, change < recorded - second,
                let above = await lastChange(above: base)
            else { return false }
            // With another inode it may have come from elsewhere, by its name.
            return file.inode == base.inode
                || above.nanosecondsSince1970 < recorded - second
        }
        guard entry.local == nil, entry.remote != nil, scope.looks(at: entry, issues),
            let change = await lastChange(above: base),
            change.nanosecondsSince1970 < recorded - second
        else { return false }
        return await isAbsent(base)
    }

    private func isAbsent(_ row: ManifestEntry) async -> Bool {
        let directory = session.directory
        let found = try? await disk.run { try directory.identity(of: row.path) }
        return found == .absent
    }

    private mutating func lastChange(above row: ManifestEntry) async -> Timestamp? {
        guard let path = try? row.path else { return nil }
        if let lastChange, lastChange.directory == path.parent { return lastChange.change }
        let directory = session.directory
        let found = try? await disk.run { () throws(LocalError) in
            try directory.lastChange(above: path)
        }
        lastChange = (path.parent, found ?? nil)
        return found ?? nil
    }

    /// True if size and time are the recorded ones; the inode is another one on another disk.
    ///
    /// Of a file that was recorded a nanosecond early the plan compares the content.
    private static func isAsRecorded(_ local: LocalEntry?, _ base: ManifestEntry) -> Bool {
        if LocalChange(of: local, since: base, judgesInodes: false) == .same { return true }
        guard let file = local?.identity else { return false }
        return file.size == base.size && base.mayHaveTime(of: file)
    }

    /// False also of what cannot be looked at: it may be older than its object.
    private func isAsRecorded(_ base: ManifestEntry) async -> Bool {
        guard let path = try? base.path else { return true }
        let directory = session.directory
        let found = try? await disk.run { () throws(LocalError) in
            try directory.identity(of: path)
        }
        return switch found {
        case nil, .absent, .other: false
        case .file(let identity):
            Self.isAsRecorded(LocalEntry(path: base.key, kind: .file(identity)), base)
        case .directory: path.isDirectory
        }
    }

    /// The entries that waited.
    mutating func flush() async throws(ManifestError) -> [JoinedEntry] {
        defer { (waiting, forgotten) = ([], []) }
        // A read-only command has no lock and changes nothing.
        if session.lock != nil, !forgotten.isEmpty {
            try await session.manifest.record(forgotten)
        }
        return waiting
    }
}
