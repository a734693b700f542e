internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
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

    private let directory: MirrorDirectory
    private let names: [String]
    private let name: String

    /// `shard` are the names that lead to a shard's folder.
    init(of shard: [String], in directory: MirrorDirectory) {
        self.directory = directory
        names = shard.dropLast() + ["open"]
        name = shard.last ?? ""
    }

    /// What this shard has opened; nil if that is nothing.
    func own() throws -> [Item]? { try read(name) }

    private func read(_ name: String) throws -> [Item]? {
        try File.read((names + [name]).joined(separator: "/"), advice: "Remove it") {
            () throws(LocalError) in
            try directory.stateFolder(names, isOfWhole: true, makes: false)?.read(name)
        }?.items
    }

    func write(_ items: [Item]) throws {
        if items.isEmpty {
            try directory.stateFolder(names, isOfWhole: true, makes: false)?.remove(name)
        } else {
            try directory.stateFolder(names, isOfWhole: true, makes: true)?
                .write(name, File(items: items).content)
        }
    }

    /// The same entry, with the recorded permissions if it is a directory that another shard has
    /// opened.
    func closed(_ entry: JoinedEntry) throws -> JoinedEntry {
        guard let mode = entry.base?.mode, mode & 0o200 == 0, let local = entry.local,
            local.isDirectory, local.permissions == mode | 0o200,
            let folder = try directory.stateFolder(names, isOfWhole: true, makes: false)
        else { return entry }
        let others = try folder.names().filter { $0 != name && Int($0) != nil }
        let isOpened = try others.contains { other in
            try read(other)?.contains { $0.key == entry.key && $0.mode == mode } == true
        }
        guard isOpened else { return entry }
        let closed = LocalEntry(path: local.path, kind: local.kind, permissions: mode)
        return JoinedEntry(key: entry.key, base: entry.base, local: closed, remote: entry.remote)
    }
}
