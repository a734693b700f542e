package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    /// Gives a file another name, if it is still what the plan saw and the name is free.
    ///
    /// - Returns: What it is then, with the time `modified`, and its permissions if it got others.
    /// - Throws: `targetChanged` with the path that is not as it was. The file has its old name
    ///   then, unless it was the last step that failed.
    package func rename(
        _ path: RelativePath,
        expected: FileIdentity,
        to newPath: RelativePath,
        modified: Timestamp
    ) throws(LocalError) -> (identity: FileIdentity, permissions: UInt32?) {
        do throws(LocalError) {
            let (parent, status) = try unchanged(path, expected)
            var target = root
            if let directory = newPath.parent {
                try requireOwnNames(directory, makes: true)
                target = try root.directory(beneath: directory, creatingWithMode: 0o777)
            }
            let (name, newName) = (PathBytes(path.name), PathBytes(newPath.name))
            try refuseIdentity(newPath, parent, name)
            sharedFiles.note(status)
            if path.parent != newPath.parent { try limitRights(of: name, status, parent, target) }
            do throws(LocalError) {
                try rename(path, status, name, in: parent, to: newPath, newName, in: target)
            } catch {
                guard error.errno == EXDEV, status.kind == .file, try noteOutOfReach(target) else {
                    throw error
                }
                let isMoved = try moveByCopy(
                    path,
                    name,
                    in: parent,
                    to: newName,
                    in: target,
                    status
                )
                guard isMoved else { throw .targetChanged(newPath) }
            }
            let file = try openForReading(newPath)
            if status.identity.modified != modified {
                try calls.setModified(file.descriptor, modified)
            }
            let found = try file.status()
            let isChanged = found.permissions != status.permissions
            return (found.identity, isChanged ? found.permissions & 0o777 : nil)
        } catch {
            throw explained(error, neededBytes: nil)
        }
    }

    /// Lets nobody read a file that goes from `place` to `target` who could not read one that this
    /// user makes there with its permissions: when its name moves, a file keeps its group and its
    /// list.
    func limitRights(
        of name: PathBytes,
        _ status: FileStatus,
        _ place: OpenDirectory,
        _ target: OpenDirectory
    ) throws(LocalError) {
        guard status.kind == .file, status.permissions & 0o077 != 0 else { return }
        let defaults = try target.newFileDefaults()
        let opened = try calls.open(
            at: place.descriptor,
            name,
            flags: SystemCalls.readingFlags,
            mode: 0
        )
        let file = OpenFile(adopting: opened, name: name.display, calls: calls)
        var rights = try file.rights()
        guard defaults != .ordinary || rights.list != nil,
            try file.status().isSameVersion(as: status)
        else { return }
        let most = rights.permissionsWithoutList
        rights.list = defaults.list?.limited(to: most)
        rights.permissions = rights.list?.permissions ?? most
        if let group = defaults.group { rights.group = group }
        try file.give(rights, removesList: true)
    }

    private func rename(
        _ path: RelativePath,
        _ status: FileStatus,
        _ name: PathBytes,
        in parent: OpenDirectory,
        to newPath: RelativePath,
        _ newName: PathBytes,
        in target: OpenDirectory
    ) throws(LocalError) {
        let isRenamed = try calls.renameExclusively(
            from: parent.descriptor,
            name,
            to: target.descriptor,
            newName
        )
        guard isRenamed else { throw .targetChanged(newPath) }
        guard let found = try target.status(of: newName), found.isSameVersion(as: status) else {
            // Another file took the name in between: it gets it back if that is possible.
            _ = try? calls.renameExclusively(
                from: target.descriptor,
                newName,
                to: parent.descriptor,
                name
            )
            throw .targetChanged(path)
        }
    }
}
