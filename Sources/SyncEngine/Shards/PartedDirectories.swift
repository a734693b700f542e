internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// The directories that lie on both sides of a cut: the key of such a directory is in one shard,
/// and some of what it holds in others.
///
/// Deletions in those may leave it empty, and then it is to be removed. Its shard does not know of
/// them, and an empty directory could as well be the user's. So those that hold something are noted
/// before the first deletion; the note is there until all were looked at, also where a `finish` is
/// killed in between.
struct PartedDirectories {
    private static let fileName = "parted"

    /// The content of the file.
    struct Note: StateFile, Hashable {
        static let heading = "osssync-parted 1"

        let keys: [ObjectKey]

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Note(keys: try fields("directories", value?.keys))
        }
    }

    private(set) var paths: Set<RelativePath>
    private let directory: MirrorDirectory
    private let isNoted: Bool

    /// Those that hold something, and those that a killed `finish` has noted.
    init(
        _ cutting: Cutting,
        _ options: RunOptions,
        in directory: MirrorDirectory
    ) throws(LocalError) {
        self.directory = directory
        // What cannot be read is noted anew, but for what a killed run has emptied.
        let content = try directory.sharedState.read(Self.fileName)
        let keys = content.flatMap(Note.init(content:))?.keys ?? []
        isNoted = !keys.isEmpty
        paths = Set(keys.compactMap { Self.path($0, options) })
        for path in cutting.bounds.flatMap(\.partedDirectories).compactMap({
            Self.path($0, options)
        }) where !paths.contains(path) {
            if try Self.holdsSomething(path, in: directory) == true { paths.insert(path) }
        }
    }

    /// Nil also for one that this user may not read: no run deletes anything in it.
    private static func holdsSomething(
        _ path: RelativePath,
        in directory: MirrorDirectory
    ) throws(LocalError) -> Bool? {
        do throws(LocalError) {
            return try directory.holdsSomething(path)
        } catch {
            guard error.isAccessDenied else { throw error }
            return nil
        }
    }

    private static func path(_ key: ObjectKey, _ options: RunOptions) -> RelativePath? {
        try? RelativePath(key: key, links: options.links, names: options.names)
    }

    /// Makes the note, durably.
    func note() throws(LocalError) {
        guard !paths.isEmpty else { return }
        let note = Note(keys: paths.map(\.key))
        try directory.state.write(Self.fileName, note.content)
    }

    /// Removes the note of a mirror that is no longer cut.
    static func forget(in directory: MirrorDirectory) throws(LocalError) {
        try directory.sharedState.remove(fileName)
    }

    func forget() throws(LocalError) {
        guard isNoted || !paths.isEmpty else { return }
        try Self.forget(in: directory)
    }

    /// Those of a range of keys that are empty now.
    func emptied(in range: KeyRange) throws(LocalError) -> Set<RelativePath> {
        var found: Set<RelativePath> = []
        for path in paths where range.contains(path.key) {
            if try Self.holdsSomething(path, in: directory) == false { found.insert(path) }
        }
        return found
    }
}

extension ObjectKey {
    /// The keys of the directories above it, which keys on both sides of it lie beneath.
    fileprivate var partedDirectories: [ObjectKey] {
        bytes.indices.dropLast().filter { bytes[$0] == UInt8(ascii: "/") }
            .map { ObjectKey(bytes[...$0]) }
    }
}
