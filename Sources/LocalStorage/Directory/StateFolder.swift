internal import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

/// A private directory beneath the state of a mirror, for small files of its own.
///
/// All methods block.
package struct StateFolder: Sendable {
    let directory: OpenDirectory
    /// For messages.
    package let path: String

    /// The content of a small file; nil if there is none.
    package func read(_ name: String) throws(LocalError) -> [UInt8]? {
        try directory.smallFile(name, path: path)?.text
    }

    /// Puts a file in place of an older one, durably.
    package func write(_ name: String, _ content: [UInt8]) throws(LocalError) {
        try directory.replaceFile(PathBytes(name.utf8), content, synchronizes: true)
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
        let calls = directory.calls
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

    /// Removes a file, durably; nothing if there is none.
    package func remove(_ name: String) throws(LocalError) {
        guard try directory.calls.unlink(at: directory.descriptor, PathBytes(name.utf8)) else {
            return
        }
        try directory.calls.synchronize(directory.descriptor)
    }

    /// What is in it, in any order.
    package func names() throws(LocalError) -> [String] {
        var names: [String] = []
        try unsafe directory.calls.names(in: directory.descriptor) { name, _ in
            names.append(unsafe String(decoding: name, as: UTF8.self))
        }
        return names
    }
}

extension MirrorDirectory {
    /// A directory beneath the state, by its names from there; nil if it is missing and `makes` is
    /// false.
    ///
    /// The state is that of the shard, if this is one's, unless that of the whole mirror is meant.
    package func stateFolder(
        _ names: [String],
        isOfWhole: Bool = false,
        makes: Bool
    ) throws(LocalError) -> StateFolder? {
        var folder =
            isOfWhole
            ? StateFolder(directory: top, path: topPath)
            : StateFolder(directory: state, path: stateDirectoryPath)
        for name in names {
            let path = folder.path + "/" + name
            do throws(LocalError) {
                folder = StateFolder(
                    directory: try PrivateDirectory.open(
                        at: folder.directory.descriptor,
                        PathBytes(name.utf8),
                        path: path,
                        createsIfMissing: makes,
                        calls: calls
                    ),
                    path: path
                )
            } catch {
                if case .missingDirectory = error, !makes { return nil }
                throw error
            }
        }
        return folder
    }

    /// Makes the names of new directories beneath the state survive a power cut.
    package func synchronizeState() throws(LocalError) {
        try calls.synchronizeFileSystem(state.descriptor)
    }
}

extension MirrorDirectory {
    /// Gives a file of a directory beneath the state the same name in the mirror's state, in place
    /// of an older one, durably.
    package func moveIntoState(
        _ name: String,
        from folder: StateFolder
    ) throws(LocalError) {
        let (bytes, source) = (PathBytes(name.utf8), folder.directory)
        do throws(LocalError) {
            try calls.rename(from: source.descriptor, bytes, to: top.descriptor, bytes)
        } catch {
            // A disk that is one mount, and yet lets nothing be renamed to another directory.
            guard error.errno == EXDEV, let status = try source.status(of: bytes) else {
                throw error
            }
            // One that a kill leaves there is swept.
            let copy = newNames.next().bytes
            do throws(LocalError) {
                _ = try self.copy(bytes, in: source, to: copy, in: top, status)
                try calls.rename(from: top.descriptor, copy, to: top.descriptor, bytes)
            } catch {
                _ = try? calls.unlink(at: top.descriptor, copy)
                throw explained(error, neededBytes: status.identity.size)
            }
        }
        try calls.synchronize(top.descriptor)
    }

    /// Removes a directory in one beneath the state, with all that it holds.
    package func removeFolder(_ name: String, in folder: StateFolder) throws(LocalError) {
        try TreeRemoval(root: folder.directory, calls: calls).remove([UInt8](name.utf8))
    }

    /// Removes a directory of shards beneath the state, and first their unfinished downloads, which
    /// may be on another mount.
    ///
    /// There, nothing else is removed: it could be another state.
    package func removeShards(_ names: [String]) throws(LocalError) {
        guard let name = names.last else { return }
        let above = Array(names.dropLast())
        let isElsewhere = workRefusal == nil && topWork.descriptor != top.descriptor
        if isElsewhere, let folder = try workFolder(names, makes: false) {
            for shard in try StateFolder(directory: folder, path: "").names() {
                guard let place = try workFolder(names + [shard], makes: false) else { continue }
                if try workFolder(names + [shard, "partial"], makes: false) != nil {
                    try TreeRemoval(root: place, calls: calls).remove([UInt8]("partial".utf8))
                }
                _ = try? calls.removeEmptyDirectory(at: folder.descriptor, PathBytes(shard.utf8))
            }
            if let folder = try workFolder(above, makes: false) {
                _ = try? calls.removeEmptyDirectory(at: folder.descriptor, PathBytes(name.utf8))
            }
        }
        guard let folder = try stateFolder(above, makes: false) else { return }
        try removeFolder(name, in: folder)
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
        if let workRefusal { throw workRefusal }
        let (old, new) = (
            try workFolder(source + ["partial"], makes: false),
            try workFolder(shard + ["partial"], makes: true)
        )
        guard let old, let new else { return }
        for name in names {
            let bytes = PathBytes(name.utf8)
            _ = try? calls.link(from: old.descriptor, bytes, to: new.descriptor, bytes)
        }
    }

    /// Removes unfinished downloads from the mirror's own place for them.
    package func removePartials(_ names: [String]) throws(LocalError) {
        for name in names { try removePartial(name) }
    }

    private func workFolder(
        _ names: [String],
        makes: Bool
    ) throws(LocalError) -> OpenDirectory? {
        var folder = work
        for name in names {
            do throws(LocalError) {
                folder = try PrivateDirectory.open(
                    at: folder.descriptor,
                    PathBytes(name.utf8),
                    path: path + "/" + RelativePath.stateDirectoryName + "/" + name,
                    createsIfMissing: makes,
                    calls: calls
                )
            } catch {
                if case .missingDirectory = error, !makes { return nil }
                throw error
            }
        }
        return folder
    }
}
