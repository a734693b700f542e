internal import LocalStorage
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// Directories that runs of one shard have opened to write there, and whose rows other shards have.
///
/// Each shard has a file of them in a folder that all shards have in common, until it has closed
/// them: to the shard that has the row they are as before, and not changed by a user.
struct OpenedDirectories: Sendable {
    struct Item: JSONObject, Hashable {
        let key: ObjectKey
        /// The permissions that it is to have again.
        let mode: UInt32

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Self(
                key: try fields("key", value?.key),
                mode: UInt32(truncatingIfNeeded: try fields("mode", value.map { Int($0.mode) }))
            )
        }
    }

    struct File: StateFile, Hashable {
        static let heading = "osssync-open 1"

        let items: [Item]

        static func code(_ fields: inout JSONFields, _ value: Self?) throws(JSONFailure) -> Self {
            Self(items: try fields("directories", value?.items))
        }
    }

    private let files: FolderOfShards

    /// `shard` are the names that lead to a shard's folder.
    init(of shard: [String], in directory: MirrorDirectory) {
        files = FolderOfShards("open", of: shard, in: directory)
    }

    /// What this shard has opened; nil if that is nothing.
    func own() throws -> [Item]? { try read(files.own) }

    private func read(_ name: String) throws -> [Item]? {
        let file: File? = try files.read(name, advice: "Remove it")
        return file?.items
    }

    func write(_ items: [Item]) throws {
        if items.isEmpty {
            try files.remove(files.own)
        } else {
            try files.write(files.own, File(items: items))
        }
    }

    /// The same entry, with the recorded permissions if it is a directory that another shard has
    /// opened.
    func closed(_ entry: JoinedEntry) throws -> JoinedEntry {
        guard let mode = entry.base?.mode, mode & 0o200 == 0, let local = entry.local,
            local.isDirectory, local.permissions == mode | 0o200
        else { return entry }
        guard try isOpened(entry.key, local.permissions ?? 0) else { return entry }
        let closed = LocalEntry(path: local.path, kind: local.kind, permissions: mode)
        return JoinedEntry(key: entry.key, base: entry.base, local: closed, remote: entry.remote)
    }

    /// True if a run of any shard has opened a directory that has these permissions now.
    func isOpened(_ key: ObjectKey, _ permissions: UInt32) throws -> Bool {
        try files.names().contains { name in
            try Int(name) != nil
                && read(name)?.contains { $0.key == key && $0.mode | 0o200 == permissions } == true
        }
    }
}
