internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Files and directories that the disk failed to show, until a run has seen all there is.
///
/// What `fsck` then clears was not deleted by the user.
struct UnreadPaths: StateFile, Hashable {
    static let heading = "osssync-unread 1"
    private static let setting = "damaged.unread"
    /// With more, any file may be one of them.
    private static let limit = 1_000

    /// Without a "/" at their ends; the empty one is the whole mirror.
    private(set) var paths: Set<ObjectKey> = []

    static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
        Self(paths: Set(try fields("paths", value?.paths.sorted())))
    }

    init(paths: Set<ObjectKey>) { self.paths = paths }

    init(in manifest: ManifestStore) async throws(ManifestError) {
        guard let text = try await manifest.setting(Self.setting) else { return }
        // What cannot be understood may have been any.
        paths = UnreadPaths(content: [UInt8](text.utf8))?.paths ?? [""]
    }

    /// Adds to what is recorded.
    static func note(
        _ paths: Set<ObjectKey>,
        in manifest: ManifestStore
    ) async throws(ManifestError) -> UnreadPaths {
        let known = try await UnreadPaths(in: manifest)
        var found = known
        found.formUnion(paths)
        if found != known {
            let text = String(decoding: found.content, as: UTF8.self)
            try await manifest.setSetting(setting, text)
        }
        return found
    }

    static func forget(in manifest: ManifestStore) async throws(ManifestError) {
        try await manifest.setSetting(setting, nil)
    }

    mutating func formUnion(_ new: Set<ObjectKey>) {
        paths.formUnion(new)
        if paths.count > Self.limit || paths.contains("") { paths = [""] }
    }

    /// True for a key at or beneath one of them.
    func cover(_ key: ObjectKey) -> Bool {
        guard !paths.isEmpty else { return false }
        return paths.contains("") || paths.contains(key)
            || key.directoriesAbove.contains { paths.contains(ObjectKey($0.bytes.dropLast())) }
    }
}
