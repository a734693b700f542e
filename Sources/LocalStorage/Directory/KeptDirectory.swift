package import SyncModel
internal import Synchronization

/// A directory in the trash, which has the permissions of the one that it stands for.
///
/// No other user reaches it, because the trash is private. Its owner can always write to it; the
/// sticky bit stands for the right to write that the other directory did not give its owner.
enum KeptDirectory {
    static func mode(of permissions: UInt32) -> UInt32 {
        permissions & 0o777 | 0o700 | (permissions & 0o200 == 0 ? 0o1000 : 0)
    }

    static func permissions(of mode: UInt32) -> UInt32 {
        mode & 0o777 & ~(mode & 0o1000 == 0 ? 0 : 0o200)
    }
}

extension DirectoryTrash {
    /// Sets the permissions of directories that are made when something in them comes back, by
    /// their keys: what is recorded of one counts more than what the trash has of an earlier time.
    package func record(_ permissions: [ObjectKey: UInt32]) {
        recorded.withLock { $0 = permissions }
    }

    /// The permissions for a directory that is missing at `path`, where one comes back that was at
    /// `source`; those of `mkdir` if nothing is known.
    func permissions(
        ofMissing path: RelativePath,
        standingFor source: RelativePath?,
        in trees: [TrashOfRun]
    ) throws(LocalError) -> UInt32 {
        let known = recorded.withLock { recorded in
            recorded[path.directoryKey] ?? source.flatMap { recorded[$0.directoryKey] }
        }
        if let known { return known }
        guard let source, let trash = try ifPresent() else { return 0o777 }
        for tree in trees.reversed() {
            guard let kept = try trash.ifPresent(tree.name, source) else { continue }
            return KeptDirectory.permissions(of: try kept.status().permissions)
        }
        return 0o777
    }

    /// Removes a directory of the tree that is empty, and those above it that are then.
    package func removeEmpty(_ path: RelativePath?, in run: TrashOfRun) throws(LocalError) {
        guard let trash = try ifPresent() else { return }
        var next = path
        while let directory = next {
            guard let parent = try trash.ifPresent(run.name, directory.parent) else { return }
            let name = PathBytes(directory.name)
            guard try trash.calls.removeEmptyDirectory(at: parent.descriptor, name) else { return }
            next = directory.parent
        }
        _ = try trash.calls.removeEmptyDirectory(at: trash.descriptor, PathBytes(run.name))
    }
}

extension MirrorDirectory {
    /// Notes in the trash of `run` which permissions a directory has that is about to be removed.
    package func keepDirectory(
        _ path: RelativePath,
        permissions: UInt32,
        run: String
    ) throws(LocalError) {
        let mode = KeptDirectory.mode(of: permissions)
        for attempt in 0..<OldVersionKeeper.maximumAttempts {
            let name = TrashOfRun.directoryName(run: run, attempt: attempt)
            let tree = try trash.oldVersions.subdirectory(name, creatingWithMode: 0o700)
            do throws(LocalError) {
                let kept = try tree.directory(beneath: path, creatingWithMode: 0o700)
                return try calls.setModeIfPossible(kept.descriptor, mode)
            } catch {
                switch error {
                case .parentIsFile, .symlinkInPath: continue
                default: throw disk.explained(error, neededBytes: nil)
                }
            }
        }
    }

    /// Makes a directory in which something comes back that was in `source`, as that was, with
    /// those above it; it may exist.
    ///
    /// - Parameters:
    ///   - path: The directory.
    ///   - source: Where it was; nil for nowhere.
    ///   - trees: The trash that has it, the best last.
    /// - Throws: `parentIsFile` or `symlinkInPath` for what is in the way.
    package func makeDirectory(
        _ path: RelativePath,
        standingFor source: RelativePath?,
        in trees: [TrashOfRun]
    ) throws(LocalError) {
        do throws(LocalError) {
            _ = try restoredDirectory(path, standingFor: source, in: trees)
        } catch {
            throw disk.explained(error.naming(path), neededBytes: nil)
        }
    }

    /// The same; the directory.
    func restoredDirectory(
        _ path: RelativePath,
        standingFor source: RelativePath?,
        in trees: [TrashOfRun]
    ) throws(LocalError) -> OpenDirectory {
        try names.requireOwn(path, makes: true)
        do throws(LocalError) {
            return try root.directory(beneath: path) { component throws(LocalError) in
                // Of a path that comes back elsewhere, the ends are the same.
                let depth = path.bytes.count { $0 == UInt8(ascii: "/") }
                let above = depth - component.bytes.count { $0 == UInt8(ascii: "/") }
                let place = source?.ancestor(above)
                return try trash.permissions(ofMissing: component, standingFor: place, in: trees)
            }
        } catch {
            // One that its owner may not write to was made above.
            guard error.isAccessDenied else { throw error }
            return try whileWritable(
                path,
                { () throws(LocalError) in
                    try restoredDirectory(path, standingFor: source, in: trees)
                },
                orElse: error
            )
        }
    }
}

extension RelativePath {
    /// The directory so many levels above, which is this path for 0; nil above the top.
    func ancestor(_ levels: Int) -> RelativePath? {
        var place: RelativePath? = self
        for _ in 0..<levels { place = place?.parent }
        return place
    }

    /// The key of the directory at this path.
    fileprivate var directoryKey: ObjectKey { ObjectKey(bytes + [UInt8(ascii: "/")]) }
}
