internal import LocalStorage
internal import ManifestStore
internal import SyncModel
internal import SyncPlanner

/// What the manifest knows of the directory itself, apart from what is in it.
struct KnownDirectory: Sendable, Hashable {
    private enum Setting {
        static let root = "directory.root"
        static let marker = "directory.marker"
        static let mountPoints = "directory.mount-points"
    }

    private static let markerLength = 26

    /// False if the directory is another one than last time: a copy, or another disk's.
    ///
    /// What it lacks, the user need not have deleted: a copy may have ended early.
    let isSame: Bool
    private let root: RootIdentity
    /// True if the manifest knows it as just this one.
    private let isRecorded: Bool
    /// Paths where other mounts began when the manifest last saw the whole directory.
    private let mountPoints: [[UInt8]]
    /// Those of them where none begins now.
    let unmounted: [[UInt8]]

    /// Those that the walk is to find; none where the user says that all is as it should be.
    let mounted: [[UInt8]]

    /// Compares the directory with what is recorded of it.
    ///
    /// With `records`, the mark that a directory is known by is made where it is missing. The rest
    /// is recorded at the end of a run that saw everything: ``record(in:_:)``.
    static func check(
        _ settings: MirrorSettings,
        _ directory: MirrorDirectory,
        _ manifest: ManifestStore,
        allowsRebinding: Bool,
        records: Bool
    ) async throws -> KnownDirectory {
        let isMarked = try await checkMarker(
            settings,
            directory,
            manifest,
            allowsRebinding,
            records: records
        )
        let root = try directory.rootIdentity()
        let recorded = try await manifest.setting(Setting.root)
        if recorded == nil, records { try await manifest.setSetting(Setting.root, root.text) }
        let isSameRoot = recorded.flatMap(RootIdentity.init(text:))?.isSame(as: root) ?? true
        let mountPoints = paths(try await manifest.setting(Setting.mountPoints) ?? "")
        var (mounted, unmounted): ([[UInt8]], [[UInt8]]) = ([], [])
        for path in mountPoints where !allowsRebinding {
            let isMounted = try directory.isMountPoint(RelativePath(key: ObjectKey(path)))
            if isMounted { mounted.append(path) } else { unmounted.append(path) }
        }
        return KnownDirectory(
            isSame: isMarked && isSameRoot,
            root: root,
            isRecorded: (recorded ?? root.text) == root.text,
            mountPoints: mountPoints,
            unmounted: unmounted,
            mounted: mounted
        )
    }

    /// What the next run is to find, after one that saw the whole directory but for what
    /// `isExcluded` tells: what is known of there stays known.
    func record(
        in manifest: ManifestStore,
        _ found: [[UInt8]]?,
        leavingOut isExcluded: DirectoryWalk.Exclusion
    ) async throws(ManifestError) {
        if !isRecorded { try await manifest.setSetting(Setting.root, root.text) }
        guard let found else { return }
        let here = Set(found)
        let known = found + mountPoints.filter { !here.contains($0) && isExcluded($0, true) }
        guard known != mountPoints else { return }
        try await manifest.setSetting(
            Setting.mountPoints,
            known.isEmpty ? nil : Self.text(known)
        )
    }

    /// True for the directory with the mark that the manifest was made with.
    ///
    /// - Throws: That there is no such mark: most likely the directory's disk is not mounted, and
    ///   what is seen is the empty mount point.
    private static func checkMarker(
        _ settings: MirrorSettings,
        _ directory: MirrorDirectory,
        _ manifest: ManifestStore,
        _ allowsRebinding: Bool,
        records: Bool
    ) async throws -> Bool {
        let recorded = try await manifest.setting(Setting.marker)
        if let recorded, try directory.marker() == recorded { return true }
        guard recorded == nil || allowsRebinding else {
            throw SyncError(
                code: .refused,
                message: "'\(displayText(settings.directory.utf8))' is not the directory that the "
                    + "manifest was made with: its marker is missing. Is its disk mounted? "
                    + "If it is another directory on purpose, say --rebind"
            )
        }
        if records {
            let marker = settings.environment.randomName(markerLength)
            try directory.writeMarker(marker)
            var changes: [(name: String, value: String?)] = [(Setting.marker, marker)]
            // Known as another one until a run has seen all of it.
            if recorded != nil { changes.append((Setting.root, RootIdentity.unknown.text)) }
            try await manifest.setSettings(changes)
        }
        return recorded == nil
    }

    // No path has an empty segment.
    private static let separator = "//"

    private static func text(_ paths: [[UInt8]]) -> String {
        paths.map { String(decoding: $0, as: UTF8.self) }.joined(separator: separator)
    }

    private static func paths(_ text: String) -> [[UInt8]] {
        var paths: [[UInt8]] = []
        var path: [UInt8] = []
        for byte in text.utf8 {
            if byte == UInt8(ascii: "/"), path.last == byte {
                path.removeLast()
                paths.append(path)
                path = []
            } else {
                path.append(byte)
            }
        }
        if !path.isEmpty { paths.append(path) }
        return paths
    }
}

/// Forgets what was in common with another directory and is missing in this one, so that no later
/// run takes it for deleted.
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
        guard !session.known.isSame, entry.base != nil, entry.local == nil,
            !issues.hides(entry.key)
        else { return entry }
        if selection.isExcludedFromWalk(entry.key) {
            // Nobody walked there, and nobody decides on it in this run.
            if await isThere(entry.key) { return entry }
        } else if entry.remote == nil {
            return entry
        }
        forgotten.append(.forget(entry.key))
        if forgotten.count == Self.batch { try await flush() }
        return JoinedEntry(key: entry.key, base: nil, local: nil, remote: entry.remote)
    }

    /// True also of what cannot be looked at: only what is surely missing is forgotten.
    private func isThere(_ key: ObjectKey) async -> Bool {
        guard let path = try? RelativePath(key: key) else { return true }
        let directory = session.directory
        let found = try? await disk.run { () throws(LocalError) in
            try directory.identity(of: path) != .absent
        }
        return found ?? true
    }

    mutating func flush() async throws(ManifestError) {
        let changes = forgotten
        forgotten = []
        // Who only looks has no lock and changes nothing.
        guard session.lock != nil, !changes.isEmpty else { return }
        try await session.manifest.record(changes)
    }
}
