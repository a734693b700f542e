internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer

/// A folder beside the shards of a mirror, in which each shard has files that the others read; or
/// one of a directory, in which each of its states has.
struct FolderOfShards: Sendable {
    private let directory: MirrorDirectory
    /// The names that lead to the folder.
    private let folder: [String]
    /// The name of this shard, a number, or of this state, with which the names of its files begin.
    let own: String
    let isOfStates: Bool

    /// `shard` are the names that lead to a shard's folder.
    init(_ name: String, of shard: [String], in directory: MirrorDirectory) {
        self.directory = directory
        folder = shard.dropLast() + [name]
        own = shard.last ?? ""
        isOfStates = false
    }

    /// Of a directory with this state.
    init(_ name: String, ofState state: String, in directory: MirrorDirectory) {
        self.directory = directory
        folder = [name]
        own = state
        isOfStates = true
    }

    /// Where the folder is; nil if there is no such place, or nothing can be written there.
    private func place(writes: Bool) throws(LocalError) -> StateFolder? {
        guard isOfStates else { return directory.sharedState }
        return writes
            ? try directory.folderOfAllStates() : try directory.markerFile.folder(makes: false)
    }

    /// The names of all files, in any order; none if there is no folder.
    func names() throws(LocalError) -> [String] {
        try place(writes: false)?.folder(folder, makes: false)?.names() ?? []
    }

    /// The names of all shards, in any order; none of a directory's states, which may never run
    /// again.
    func shards() throws(LocalError) -> [String] {
        guard !isOfStates else { return [] }
        let shards = try directory.sharedState.folder(folder.dropLast(), makes: false)
        return try shards?.names().filter { Int($0) != nil } ?? []
    }

    /// Nil if there is none.
    ///
    /// - Throws: `localState` if it was cut short or altered.
    func read<File: StateFile>(_ name: String, advice: String) throws(SyncError) -> File? {
        try File.read((folder + [name]).joined(separator: "/"), advice: advice) {
            () throws(LocalError) in
            try place(writes: false)?.folder(folder, makes: false)?.read(name)
        }
    }

    func write(_ name: String, _ file: some StateFile) throws(LocalError) {
        try place(writes: true)?.folder(folder, makes: true)?.write(name, file.content)
    }

    func remove(_ name: String) throws(LocalError) {
        try place(writes: true)?.folder(folder, makes: false)?.remove(name)
    }
}
