internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// What the manifest knows of the directory itself, apart from what is in it.
struct DirectoryIdentity: Sendable, Hashable {
    private enum Setting {
        static let mountPoints = "directory.mount-points"
        /// A path and what is mounted there, by turns.
        static let mountIdentities = "directory.mount-identities"
    }

    private let directory: DirectoryCheck.Finding
    /// Mount points that earlier runs found.
    let mountPoints: [[UInt8]]
    /// Some of them, each followed by the text of what was mounted there.
    private let identities: [[UInt8]]
    /// Those of them where none begins now; none where the user says that all is as it should be.
    private(set) var unmounted: [[UInt8]]
    /// Those that the walk is to find; likewise.
    private(set) var mounted: [[UInt8]]
    /// Those of them where something else is mounted than was recorded; likewise.
    private(set) var replaced: [[UInt8]]
    /// True if the user says that all is as it should be.
    private(set) var acceptsMounts = false
    /// See ``DecisionPolicy/ordinaryDirectory``.
    let ordinaryDirectory: UInt32?
    /// See ``DecisionPolicy/sendsModes``.
    let sendsModes: Bool

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
    ) async throws -> DirectoryIdentity {
        let mountPoints = try await RecordedPaths(
            text: manifest.setting(Setting.mountPoints) ?? ""
        ).paths
        var (mounted, unmounted): ([[UInt8]], [[UInt8]]) = ([], [])
        for path in mountPoints {
            // What cannot be looked at, like a network disk whose server is gone, is as good as
            // not mounted: nothing is deleted because it is missing there.
            let isMounted = try? directory.isMountPoint(RelativePath(key: ObjectKey(path)))
            if isMounted == true { mounted.append(path) } else { unmounted.append(path) }
        }
        let recorded = try await RecordedPaths(
            text: manifest.setting(Setting.mountIdentities) ?? ""
        ).paths
        var replaced: [[UInt8]] = []
        for index in stride(from: 0, to: recorded.count - 1, by: 2) {
            let path = recorded[index]
            guard mounted.contains(path),
                let found = identity(path, directory),
                let known = RootIdentity(
                    text: String(decoding: recorded[index + 1], as: UTF8.self)
                ), !found.isSame(as: known)
            else { continue }
            replaced.append(path)
        }
        return DirectoryIdentity(
            directory: finding,
            mountPoints: mountPoints,
            identities: recorded,
            unmounted: unmounted,
            mounted: mounted,
            replaced: replaced,
            ordinaryDirectory: try await ordinaryDirectory(directory, manifest),
            sendsModes: try await KeptModes.ofCopies.areKnown(to: manifest) != false
        )
    }

    private static func ordinaryDirectory(
        _ directory: MirrorDirectory,
        _ manifest: ManifestStore
    ) async throws -> UInt32? {
        guard try directory.keepsInodeNumbers(),
            try await ShortenedMarkers.areKnown(to: manifest) != true,
            try await KeptModes.ofMarkers.areKnown(to: manifest) != false
        else { return nil }
        return MirrorDirectory.ordinaryPermissions
    }

    private static func identity(_ path: [UInt8], _ directory: MirrorDirectory) -> RootIdentity? {
        (try? RelativePath(key: ObjectKey(path))).flatMap { directory.mountIdentity($0) }
    }

    /// Takes what is not mounted for gone on purpose.
    mutating func acceptMounts() {
        (mounted, unmounted, replaced) = ([], [], [])
        acceptsMounts = true
    }

    /// Forgets, for a run that is limited to `ranges`, the mounts that it does not come to.
    mutating func limit(to ranges: KeyRanges) {
        func isReached(_ path: [UInt8]) -> Bool {
            let key = ObjectKey(path)
            return ranges.contains(key)
                || ranges.meets(prefix: ObjectKey(key.bytes + [UInt8(ascii: "/")]))
        }
        mounted = mounted.filter(isReached)
        unmounted = unmounted.filter(isReached)
        replaced = replaced.filter(isReached)
    }

    /// Those of `found` beneath which the manifest has what need not be theirs: other ones were
    /// mounted there when it was recorded, or none was.
    func foreign(
        among found: ArraySlice<[UInt8]>,
        _ manifest: ManifestStore
    ) async throws(ManifestError) -> [[UInt8]] {
        guard !acceptsMounts else { return [] }
        var foreign = replaced
        let known = Set(mountPoints)
        for path in found where !known.contains(path) {
            let beneath = ObjectKey(path + [UInt8(ascii: "/")])
            let entries = RowSelection.entries(in: KeyRange(prefix: beneath), after: beneath)
            if try await manifest.first(entries) != nil { foreign.append(path) }
        }
        return foreign
    }

    /// Records what the next run should find, after one that saw the whole directory except for
    /// what `isExcluded` returns: its entries stay recorded.
    func record(
        in manifest: ManifestStore,
        _ found: [[UInt8]]?,
        of mirror: MirrorDirectory,
        leavingOut isExcluded: ([UInt8]) -> Bool
    ) async throws(ManifestError) {
        try await directory.accept(in: manifest)
        guard let found else { return }
        let here = Set(found)
        let leftOut = mountPoints.filter { !here.contains($0) && isExcluded($0) }
        var identities = found.flatMap { path in
            Self.identity(path, mirror).map { [path, [UInt8]($0.text.utf8)] } ?? []
        }
        for index in stride(from: 0, to: self.identities.count - 1, by: 2)
        where leftOut.contains(self.identities[index]) {
            identities += self.identities[index...(index + 1)]
        }
        if RecordedPaths(identities).text
            != (try await manifest.setting(Setting.mountIdentities) ?? "")
        {
            try await manifest.setSetting(
                Setting.mountIdentities,
                identities.isEmpty ? nil : RecordedPaths(identities).text
            )
        }
        let known = found + leftOut
        MountList.note(known, known: mountPoints, keepsOthers: !acceptsMounts, in: mirror)
        let recorded = try await manifest.setting(Setting.mountPoints) ?? ""
        guard known != RecordedPaths(text: recorded).paths else { return }
        try await manifest.setSetting(
            Setting.mountPoints,
            known.isEmpty ? nil : RecordedPaths(known).text
        )
    }

    /// Adds what a walk has found so far; what is gone for good is forgotten by a run that saw
    /// everything.
    ///
    /// A foreign one stays foreign until a run has compared all beneath it. Which disks the others
    /// are is recorded as well, because a limited, stopped or killed run never calls `record`.
    func note(
        _ found: [[UInt8]],
        foreign: Set<[UInt8]>,
        of mirror: MirrorDirectory,
        in manifest: ManifestStore
    ) async throws(ManifestError) {
        let known = Set(mountPoints)
        let new = found.filter { !known.contains($0) }
        guard !new.isEmpty else { return }
        MountList.note(mountPoints + new, known: [], keepsOthers: true, in: mirror)
        let added = new.flatMap { path in
            let identity = foreign.contains(path) ? .unknown : Self.identity(path, mirror)
            return identity.map { [path, [UInt8]($0.text.utf8)] } ?? []
        }
        try await manifest.setSettings([
            (Setting.mountPoints, RecordedPaths(mountPoints + new).text),
            (Setting.mountIdentities, RecordedPaths(identities + added).text),
        ])
    }
}
