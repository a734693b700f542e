internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer

/// A folder beside the shards of a mirror, in which each shard has files that the others read; or
/// one of a directory, in which each of its states has.
struct FolderOfShards: Sendable {
    private enum Place: Sendable {
        case shards(MirrorDirectory)
        case states(MirrorDirectory)
        /// Of another directory's `.osssync`.
        case state(StateFolder)
    }

    private let place: Place
    /// The names that lead to the folder.
    private let folder: [String]
    /// The name of this shard, a number, or of this state, with which the names of its files begin.
    let own: String
    /// What comes before a key in the files of this folder.
    let prefix: [UInt8]
    /// Those of the directories around this one that are mirrors of this user: they have the same
    /// files.
    let around: [FolderOfShards]

    private init(
        _ place: Place,
        _ folder: [String],
        own: String,
        prefix: [UInt8] = [],
        around: [FolderOfShards] = []
    ) {
        (self.place, self.folder, self.own) = (place, folder, own)
        (self.prefix, self.around) = (prefix, around)
    }

    /// `shard` are the names that lead to a shard's folder.
    init(_ name: String, of shard: [String], in directory: MirrorDirectory) {
        self.init(.shards(directory), shard.dropLast() + [name], own: shard.last ?? "")
    }

    /// Of a directory with this state.
    init(
        _ name: String,
        ofState state: String,
        in directory: MirrorDirectory
    ) throws(LocalError) {
        var around: [FolderOfShards] = []
        for (place, prefix) in GivenPath.around(directory.path) {
            guard let folder = try StateFolder.ofOwnDirectory(at: place) else { continue }
            around.append(FolderOfShards(.state(folder), [name], own: state, prefix: prefix))
        }
        self.init(.states(directory), [name], own: state, around: around)
    }

    var isOfStates: Bool {
        if case .shards = place { false } else { true }
    }

    /// Where the folder is; nil if there is no such place, or nothing can be written there.
    private func place(writes: Bool) throws(LocalError) -> StateFolder? {
        switch place {
        case .shards(let directory): directory.sharedState
        case .states(let directory):
            writes
                ? try directory.folderOfAllStates() : try directory.markerFile.folder(makes: false)
        case .state(let folder): folder
        }
    }

    /// The names of all files, in any order; none if there is no folder.
    func names() throws(LocalError) -> [String] {
        try place(writes: false)?.folder(folder, makes: false)?.names() ?? []
    }

    /// The names of all shards, in any order; none of a directory's states, which may never run
    /// again.
    func shards() throws(LocalError) -> [String] {
        guard case .shards(let directory) = place else { return [] }
        let shards = try directory.sharedState.folder(folder.dropLast(), makes: false)
        return try shards?.names().filter { Int($0) != nil } ?? []
    }

    /// Nil if there is none.
    ///
    /// - Throws: `localState` if it was cut short or altered.
    func read<File: StateFile>(_ name: String, advice: String) throws(TransferError) -> File? {
        var shown = (folder + [name]).joined(separator: "/")
        if case .state(let state) = place { shown = state.path + "/" + shown }
        return try File.read(shown, advice: advice) { () throws(LocalError) in
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
