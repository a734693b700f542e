internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer

/// A folder beside the shards of a mirror, in which each shard has files that the others read.
struct FolderOfShards: Sendable {
    private let directory: MirrorDirectory
    /// The names that lead to the folder.
    private let folder: [String]
    /// The name of this shard, a number, with which the names of its files begin.
    let own: String

    /// `shard` are the names that lead to a shard's folder.
    init(_ name: String, of shard: [String], in directory: MirrorDirectory) {
        self.directory = directory
        folder = shard.dropLast() + [name]
        own = shard.last ?? ""
    }

    /// The names of all files, in any order; none if there is no folder.
    func names() throws(LocalError) -> [String] {
        try directory.sharedState.folder(folder, makes: false)?.names() ?? []
    }

    /// The names of all shards, in any order.
    func shards() throws(LocalError) -> [String] {
        let shards = try directory.sharedState.folder(folder.dropLast(), makes: false)
        return try shards?.names().filter { Int($0) != nil } ?? []
    }

    /// Nil if there is none.
    ///
    /// - Throws: `localState` if it was cut short or altered.
    func read<File: StateFile>(_ name: String, advice: String) throws(SyncError) -> File? {
        try File.read((folder + [name]).joined(separator: "/"), advice: advice) {
            () throws(LocalError) in
            try directory.sharedState.folder(folder, makes: false)?.read(name)
        }
    }

    func write(_ name: String, _ file: some StateFile) throws(LocalError) {
        try directory.sharedState.folder(folder, makes: true)?.write(name, file.content)
    }

    func remove(_ name: String) throws(LocalError) {
        try directory.sharedState.folder(folder, makes: false)?.remove(name)
    }
}
