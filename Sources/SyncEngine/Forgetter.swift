internal import LocalStorage
internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

/// Forgets what was in common with another directory and is not just so in this one: what is
/// missing is not taken for deleted by any later run, and what differs is not taken for an edit.
///
/// A restored directory is older than the manifest. Its files would replace newer objects.
struct Forgetter {
    private static let batch = 1_000

    private let session: MirrorSession
    private let selection: Selection
    private let issues: ScanIssues
    private let disk: BlockingQueue
    private var forgotten: [ManifestChange] = []

    init(
        session: MirrorSession,
        selection: Selection,
        issues: ScanIssues,
        threads: BlockingThreads
    ) {
        self.session = session
        disk = BlockingQueue(label: "osssync.forget", width: 1, threads: threads)
        self.selection = selection
        self.issues = issues
    }

    /// The entry as it is to be decided on.
    mutating func entry(_ entry: JoinedEntry) async throws(ManifestError) -> JoinedEntry {
        guard !session.known.isSame, let base = entry.base, !issues.hides(entry.key) else {
            return entry
        }
        if selection.isExcludedFromWalk(entry.key) {
            // Nobody walked there, and nobody decides on it in this run.
            if await isAsRecorded(base) { return entry }
        } else if entry.local == nil {
            if entry.remote == nil { return entry }
        } else if Self.isAsRecorded(entry.local, base) {
            return entry
        }
        forgotten.append(.forget(entry.key))
        if forgotten.count == Self.batch { try await flush() }
        return JoinedEntry(key: entry.key, base: nil, local: entry.local, remote: entry.remote)
    }

    /// The inode is another one on another disk.
    private static func isAsRecorded(_ local: LocalEntry?, _ base: ManifestEntry) -> Bool {
        LocalChange(of: local, since: base, judgesInodes: false) == .same
    }

    /// False also of what cannot be looked at: it may be older than its object.
    private func isAsRecorded(_ base: ManifestEntry) async -> Bool {
        guard let path = try? RelativePath(key: base.key) else { return true }
        let directory = session.directory
        let found = try? await disk.run { () throws(LocalError) in
            try directory.identity(of: path)
        }
        return switch found {
        case nil, .absent, .other: false
        case .file(let identity):
            Self.isAsRecorded(LocalEntry(path: base.key, kind: .file(identity)), base)
        case .directory: base.key.isDirectoryMarker
        }
    }

    mutating func flush() async throws(ManifestError) {
        let changes = forgotten
        forgotten = []
        // Who only looks has no lock and changes nothing.
        guard session.lock != nil, !changes.isEmpty else { return }
        try await session.manifest.record(changes)
    }
}
