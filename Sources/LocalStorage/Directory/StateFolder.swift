internal import CLibrary
package import SyncModel

/// What a file of the state directory holds.
package struct StateFileContent: Sendable, Hashable {
    package let text: [UInt8]
    package let identity: FileIdentity
    /// False if the file changed while it was read.
    package let isWhole: Bool
}

/// The lock by which others know that a watch is running, until it is released or the process ends.
package final class WatchMark: Sendable {
    private let file: OpenFile

    fileprivate init(file: OpenFile) { self.file = file }
}

/// The state of a mirror or a private directory beneath it, for small files of its own.
///
/// All methods block.
package struct StateFolder: Sendable {
    let directory: OpenDirectory
    /// For messages.
    package let path: String
    /// Gives the numbers of a full disk; nil where that is not asked.
    var disk: MirrorDisk?

    package static let maximumLength = 4 << 20
    private var calls: SystemCalls { directory.calls }

    /// `.osssync` of another directory; nil if it has none that this user can open.
    ///
    /// - Throws: If the disk does not tell.
    package static func ofDirectory(at path: String) throws(LocalError) -> StateFolder? {
        try folder(at: path) { root, name throws(LocalError) in
            try root.subdirectory(PathBytes(name.utf8))
        }
    }

    /// The same where it is this user's own, and private.
    package static func ofOwnDirectory(at path: String) throws(LocalError) -> StateFolder? {
        try folder(at: path) { root, name throws(LocalError) in
            try root.privateDirectory(name, in: path, makes: false)
        }
    }

    private static func folder(
        at path: String,
        _ open: (OpenDirectory, String) throws(LocalError) -> OpenDirectory
    ) throws(LocalError) -> StateFolder? {
        let name = RelativePath.stateDirectoryName
        do throws(LocalError) {
            let state = try open(GivenPath.open(path), name)
            return StateFolder(directory: state, path: path + "/" + name)
        } catch {
            guard error.isDoubtful else { return nil }
            throw error
        }
    }

    /// Fails on a full disk whose blocks are smaller than the pages of memory.
    ///
    /// SQLite writes a byte of each page of its index, which it maps then: the other blocks of the
    /// page would have no room, and to write to them would end the process with a signal.
    ///
    /// - Throws: `diskFull`.
    package func requireIndexRoom() throws(LocalError) {
        let needed: Int64 = 64 << 10
        guard let free = try? calls.freeSpace(directory.descriptor), free.mostBytes != nil,
            free.blockSize < 4096, free.ownBytes < needed
        else { return }
        throw .diskFull(
            DiskShortage(
                resource: .space,
                errno: ENOSPC,
                path: nil,
                neededBytes: needed,
                freeBytes: free.ownBytes
            )
        )
    }

    /// The content of a small file; nil if there is none.
    package func read(
        _ name: String,
        limit: Int = maximumLength
    ) throws(LocalError) -> [UInt8]? {
        try content(name, limit: limit)?.text
    }

    /// The same of a file that another program may be writing.
    package func content(
        _ name: String,
        limit: Int = maximumLength
    ) throws(LocalError) -> StateFileContent? {
        do throws(LocalError) {
            let file = try directory.file(PathBytes(name.utf8), name)
            let status = try file.status()
            guard status.kind == .file, status.identity.size <= Int64(limit) else {
                throw .unsafeDirectory(
                    path: path + "/" + name,
                    reason: "it is not a small regular file"
                )
            }
            let text = try file.read(at: 0, length: Int(status.identity.size))
            return StateFileContent(
                text: text,
                identity: status.identity,
                isWhole: try file.identity() == status.identity
            )
        } catch {
            if error.errno == ENOENT { return nil }
            throw error
        }
    }

    /// Puts a private file in place of an older one, by one rename, durably.
    package func write(_ name: String, _ content: [UInt8]) throws(LocalError) {
        do throws(LocalError) {
            try directory.replaceFile(PathBytes(name.utf8), content, synchronizes: true)
        } catch {
            throw disk?.explained(error, neededBytes: nil) ?? error
        }
    }

    /// The same for a file that nothing depends on: after a power cut it may be old or gone.
    package func writeUnsynchronized(
        _ name: String,
        _ content: [UInt8]
    ) throws(LocalError) {
        try directory.replaceFile(PathBytes(name.utf8), content, synchronizes: false)
    }

    /// Makes a file, whole from the first moment on, unless there is one of that name; durably.
    ///
    /// Of several processes, on any machine, that make it at the same time just one is told true.
    package func create(_ name: String, _ content: [UInt8]) throws(LocalError) -> Bool {
        let temporary = PartialName.random().text
        try directory.replaceFile(
            PathBytes(temporary.utf8),
            content,
            synchronizes: true,
            by: PartialName.random().text
        )
        defer { _ = try? calls.unlink(at: directory.descriptor, PathBytes(temporary.utf8)) }
        do throws(LocalError) {
            try calls.link(
                from: directory.descriptor,
                PathBytes(temporary.utf8),
                to: directory.descriptor,
                PathBytes(name.utf8)
            )
        } catch {
            guard error.errno == EEXIST else { throw error }
            return false
        }
        try calls.synchronize(directory.descriptor)
        return true
    }

    /// Removes a file, which need not exist, durably.
    package func remove(_ name: String) throws(LocalError) {
        try calls.unlink(at: directory.descriptor, PathBytes(name.utf8))
        try calls.synchronize(directory.descriptor)
    }

    /// Removes a file that nothing depends on, and which need not exist.
    package func removeUnsynchronized(_ name: String) throws(LocalError) {
        try calls.unlink(at: directory.descriptor, PathBytes(name.utf8))
    }

    /// What tells the directory from a later one of its name.
    package func identity() throws(LocalError) -> RootIdentity { try RootIdentity(of: directory) }

    func device() throws(LocalError) -> UInt64 { try directory.status().identity.device }

    /// What tells a file from a later one of its name; nil where that is not there, or does not
    /// last.
    package func inode(of name: String) throws(LocalError) -> UInt64? {
        guard try calls.keepsInodeNumbers(directory.descriptor) else { return nil }
        return try directory.status(of: PathBytes(name.utf8))?.identity.inode
    }

    /// What is in it, in any order.
    package func names() throws(LocalError) -> [String] {
        var names: [String] = []
        try unsafe calls.names(in: directory.descriptor) { name, _ in
            names.append(unsafe String(decoding: name, as: UTF8.self))
        }
        return names
    }

    /// What a watch holds while it waits for changes, too.
    private static let watchName = "watch"

    /// Shows others that a watch is running, as long as the result lives; nil if one does already,
    /// or where there are no locks.
    package func watchMark() throws(LocalError) -> WatchMark? {
        let flags = SystemCalls.lockFlags
        let file = try directory.file(
            PathBytes(Self.watchName.utf8),
            Self.watchName,
            flags: flags,
            mode: 0o600
        )
        return try calls.lockExclusively(file.descriptor) ? WatchMark(file: file) : nil
    }

    /// True while a watch is running.
    package var isWatched: Bool {
        guard let file = try? directory.file(PathBytes(Self.watchName.utf8), Self.watchName) else {
            return false
        }
        return (try? calls.isLocked(file.descriptor)) == true
    }

    /// What a run shows to others while it works.
    package static let liveName = "live"

    /// Removes the new files that killed processes never renamed over the old ones, and what they
    /// showed.
    func sweepUnfinished() throws(LocalError) {
        for name in try names() where PartialName(name) != nil || name == Self.liveName {
            try calls.unlink(at: directory.descriptor, PathBytes(name.utf8))
        }
    }

    /// Removes a directory in it, with all that it holds.
    package func removeFolder(_ name: String) throws(LocalError) {
        try TreeRemoval(root: directory, calls: calls).remove([UInt8](name.utf8))
    }

    /// Removes an empty directory in it; what is not empty stays.
    fileprivate func removeIfEmpty(_ name: String) {
        _ = try? calls.removeEmptyDirectory(at: directory.descriptor, PathBytes(name.utf8))
    }

    /// Makes the names of new directories beneath it survive a power cut.
    package func synchronize() throws(LocalError) {
        try calls.synchronizeFileSystem(directory.descriptor)
    }

    /// A directory beneath it, by its names from here.
    ///
    /// - Throws: `missingDirectory`, `unsafeDirectory`.
    func opened(_ names: [String], makes: Bool) throws(LocalError) -> StateFolder {
        var folder = self
        for name in names {
            folder = StateFolder(
                directory: try folder.directory.privateDirectory(
                    name,
                    in: folder.path,
                    makes: makes
                ),
                path: folder.path + "/" + name
            )
        }
        return folder
    }

    /// The same; nil if it is missing and `makes` is false.
    package func folder(_ names: [String], makes: Bool) throws(LocalError) -> StateFolder? {
        do throws(LocalError) {
            return try opened(names, makes: makes)
        } catch {
            if case .missingDirectory = error, !makes { return nil }
            throw error
        }
    }
}

extension MirrorDirectory {
    /// Removes the new files of the state that killed processes never renamed over the old ones.
    ///
    /// The caller holds the lock; a link that is being written meanwhile fails and stays as it was.
    package func sweepStateFiles() throws(LocalError) {
        try state.sweepUnfinished()
        // Other shards' runs may be writing those of the mirror.
        guard !isOfShard else { return }
        let holder: OpenDirectory
        do throws(LocalError) {
            holder = try root.subdirectory(PathBytes(RelativePath.stateDirectoryName.utf8))
        } catch {
            switch error.errno {
            // The last one is of another user's state.
            case ENOENT, EACCES: return
            default: throw error
            }
        }
        try StateFolder(directory: holder, path: path).sweepUnfinished()
    }

    /// Writes a file of the state, and first the one of the directory itself that all of its states
    /// read, if anything can be written there.
    package func writeForAllStates(_ name: String, _ content: [UInt8]) throws(LocalError) {
        if let folder = try folderOfAllStates() {
            do throws(LocalError) {
                try folder.write(name, content)
            } catch {
                guard error.refusesWriting else { throw error }
            }
            if try folder.directory.status().isSameObject(as: sharedState.directory.status()) {
                return
            }
        }
        try sharedState.write(name, content)
    }

    /// `.osssync` of the directory, made where it is missing; nil if nothing can be written there.
    package func folderOfAllStates() throws(LocalError) -> StateFolder? {
        guard try markerFile.writingRefusal(makes: false) == nil else { return nil }
        return try markerFile.folder(makes: true)
    }

    /// Gives a file of a directory beneath the state the same name in the mirror's state, in place
    /// of an older one, durably.
    package func moveIntoState(
        _ name: String,
        from folder: StateFolder
    ) throws(LocalError) {
        let (bytes, source, target) = (
            PathBytes(name.utf8), folder.directory, sharedState.directory
        )
        do throws(LocalError) {
            try calls.rename(from: source.descriptor, bytes, to: target.descriptor, bytes)
        } catch {
            // A disk that is one mount, and yet lets nothing be renamed to another directory.
            guard error.errno == EXDEV, let status = try source.status(of: bytes) else {
                throw error
            }
            // One that a kill leaves there is swept.
            let copy = PartialName.random().bytes
            do throws(LocalError) {
                _ = try self.copy(bytes, in: source, to: copy, in: target, status)
                try calls.rename(from: target.descriptor, copy, to: target.descriptor, bytes)
            } catch {
                _ = try? calls.unlink(at: target.descriptor, copy)
                throw disk.explained(error, neededBytes: status.identity.size)
            }
        }
        try calls.synchronize(target.descriptor)
    }

    /// Removes a directory of shards beneath the state, and first their unfinished downloads, which
    /// may be on another mount.
    ///
    /// There, nothing else is removed: it could be another state.
    package func removeShards(_ names: [String]) throws(LocalError) {
        guard let name = names.last else { return }
        let above = Array(names.dropLast())
        let isElsewhere =
            work.refusal == nil && work.top.descriptor != sharedState.directory.descriptor
        if isElsewhere, let folder = try work.folder.folder(names, makes: false) {
            for shard in try folder.names() {
                guard let place = try folder.folder([shard], makes: false) else { continue }
                if try place.folder([PartialFiles.directoryName], makes: false) != nil {
                    try place.removeFolder(PartialFiles.directoryName)
                }
                folder.removeIfEmpty(shard)
            }
            try work.folder.folder(above, makes: false)?.removeIfEmpty(name)
        }
        try state.folder(above, makes: false)?.removeFolder(name)
    }

    /// Gives unfinished downloads a second name in a shard's place for them, which is made if it is
    /// missing.
    ///
    /// Where that is impossible, they are fetched from their beginning again.
    package func linkPartials(
        _ names: [String],
        from source: [String],
        to shard: [String]
    ) throws(LocalError) {
        if let refusal = work.refusal { throw refusal }
        let partial = [PartialFiles.directoryName]
        let old = try work.folder.folder(source + partial, makes: false)
        let new = try work.folder.opened(shard + partial, makes: true)
        guard let old else { return }
        for name in names {
            let bytes = PathBytes(name.utf8)
            let (old, new) = (old.directory.descriptor, new.directory.descriptor)
            _ = try? calls.link(from: old, bytes, to: new, bytes)
        }
    }
}
