internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// What the manifest knows of the directory itself, apart from what is in it.
struct KnownDirectory: Sendable, Hashable {
    private enum Setting {
        static let mountPoints = "directory.mount-points"
    }

    private let directory: DirectoryCheck.Finding
    /// Mount points that earlier runs found.
    private let mountPoints: [[UInt8]]
    /// Those of them where none begins now; none where the user says that all is as it should be.
    private(set) var unmounted: [[UInt8]]
    /// Those that the walk is to find; likewise.
    private(set) var mounted: [[UInt8]]

    /// False if the directory is another one than last time: a copy, or another disk's, or one
    /// that was rolled back.
    ///
    /// What it lacks, the user need not have deleted, and what differs the user need not have
    /// edited: it may be older.
    var isSame: Bool { directory.isSame }

    /// Why nothing can be written beneath the directory; nil if it can.
    var writingRefusal: LocalError? { directory.writingRefusal }

    /// Compares the recorded mount points with what is mounted now.
    static func check(
        _ finding: DirectoryCheck.Finding,
        _ directory: MirrorDirectory,
        _ manifest: ManifestStore
    ) async throws -> KnownDirectory {
        let mountPoints = paths(try await manifest.setting(Setting.mountPoints) ?? "")
        var (mounted, unmounted): ([[UInt8]], [[UInt8]]) = ([], [])
        for path in mountPoints {
            // What cannot be looked at, like a network disk whose server is gone, is as good as
            // not mounted: nothing is deleted because it is missing there.
            let isMounted = try? directory.isMountPoint(RelativePath(key: ObjectKey(path)))
            if isMounted == true { mounted.append(path) } else { unmounted.append(path) }
        }
        return KnownDirectory(
            directory: finding,
            mountPoints: mountPoints,
            unmounted: unmounted,
            mounted: mounted
        )
    }

    /// Takes what is not mounted for gone on purpose.
    mutating func acceptMounts() {
        (mounted, unmounted) = ([], [])
    }

    /// What the next run is to find, after one that saw the whole directory but for what
    /// `isExcluded` tells: what is known of there stays known.
    func record(
        in manifest: ManifestStore,
        _ found: [[UInt8]]?,
        leavingOut isExcluded: DirectoryWalk.Exclusion
    ) async throws(ManifestError) {
        try await directory.settle(in: manifest)
        guard let found else { return }
        let here = Set(found)
        let known = found + mountPoints.filter { !here.contains($0) && isExcluded($0, true) }
        let recorded = try await manifest.setting(Setting.mountPoints) ?? ""
        guard known != Self.paths(recorded) else { return }
        try await manifest.setSetting(
            Setting.mountPoints,
            known.isEmpty ? nil : Self.text(known)
        )
    }

    /// Adds what a walk has found so far; what is gone for good is forgotten by a run that saw
    /// everything.
    func note(_ found: [[UInt8]], in manifest: ManifestStore) async throws(ManifestError) {
        let known = Set(mountPoints)
        let new = found.filter { !known.contains($0) }
        guard !new.isEmpty else { return }
        try await manifest.setSetting(Setting.mountPoints, Self.text(mountPoints + new))
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
