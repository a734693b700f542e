internal import CLibrary
internal import CSystem
package import SyncModel

extension MirrorDirectory {
    /// Makes a directory with its parents; it may exist.
    ///
    /// A new one has the `permissions` from the start, as far as the umask allows; its parents have
    /// ordinary ones.
    ///
    /// - Throws: `parentIsFile`, `symlinkInPath` or `nameTaken` with the component that is in the
    ///   way, which may be `path` itself.
    package func makeDirectory(
        _ path: RelativePath,
        permissions: UInt32 = 0o777
    ) throws(LocalError) {
        do throws(LocalError) {
            try names.requireOwn(path, makes: true)
            if permissions != 0o777, let parent = path.parent {
                _ = try root.directory(beneath: parent, creatingWithMode: 0o777)
            }
            _ = try root.directory(beneath: path, creatingWithMode: permissions)
        } catch {
            throw disk.explained(names.cause(of: error, making: path), neededBytes: nil)
        }
    }

    /// The same of one whose permissions are not known yet: no other user reads there until
    /// ``openUnasked(_:)``.
    ///
    /// It has the sticky bit until then, by which a run knows it that comes after a kill. Where a
    /// list says who may read in new directories, that is what it has from the start.
    package func makeUnaskedDirectory(_ path: RelativePath) throws(LocalError) {
        if let parent = path.parent { try makeDirectory(parent) }
        let around = try parent(of: path)
        let hasList = ((try? calls.list(.forNewFiles, of: around.descriptor)) ?? nil) != nil
        try makeDirectory(path, permissions: hasList ? 0o777 : FileStatus.unasked)
    }

    /// True for what ``makeUnaskedDirectory(_:)`` left.
    package func isUnasked(_ path: RelativePath) throws(LocalError) -> Bool {
        try root.directory(beneath: path).status().isUnasked
    }

    /// Gives such a directory the permissions that `mkdir` gives; what any other one has, it keeps.
    package func openUnasked(_ path: RelativePath) throws(LocalError) -> UInt32 {
        let opened = try root.directory(beneath: path)
        let status = try opened.status()
        guard status.isUnasked else { return status.permissions & 0o777 }
        let wanted = status.permissions & ~0o1777 | MirrorDirectory.ordinaryPermissions
        try calls.setModeIfPossible(opened.descriptor, wanted)
        return try opened.status().permissions & 0o777
    }

    /// False if it is absent, not empty or not a directory.
    package func removeDirectoryIfEmpty(_ path: RelativePath) throws(LocalError) -> Bool {
        do throws(LocalError) {
            let parent = try parent(of: path)
            return try calls.removeEmptyDirectory(at: parent.descriptor, PathBytes(path.name))
        } catch {
            switch error {
            case .absent, .parentIsFile: return false
            default: throw error
            }
        }
    }

    /// Deletes a file by moving it to the trash of `run`, if it is still what the plan saw.
    ///
    /// - Throws: `targetChanged` if it is not; it stays then.
    package func moveToTrash(
        _ path: RelativePath,
        expected: FileIdentity,
        run: String
    ) throws(LocalError) {
        do throws(LocalError) {
            let (parent, status) = try unchanged(path, expected)
            let keeper = OldVersionKeeper(directory: self, path: path, parent: parent)
            try keeper.moveToTrash(status, run: run)
        } catch {
            throw disk.explained(error, neededBytes: nil)
        }
    }

    /// Deletes a file for good, if it is still what the plan saw.
    ///
    /// - Throws: `targetChanged` if it is not; it stays then.
    package func remove(
        _ path: RelativePath,
        expected: FileIdentity
    ) throws(LocalError) {
        let (parent, status) = try unchanged(path, expected)
        try OldVersionKeeper(directory: self, path: path, parent: parent).remove(status)
    }

    /// The directory of a file and what the file is, if that is what the plan saw.
    func unchanged(
        _ path: RelativePath,
        _ expected: FileIdentity
    ) throws(LocalError) -> (OpenDirectory, FileStatus) {
        let parent: OpenDirectory
        do throws(LocalError) {
            parent = try self.parent(of: path)
        } catch {
            switch error {
            case .absent, .parentIsFile: throw .targetChanged(path)
            default: throw error
            }
        }
        let status = try parent.status(of: PathBytes(path.name))
        guard let status, status.kind == .of(path), isAsSeen(status.identity, expected)
        else {
            throw .targetChanged(path)
        }
        return (parent, status)
    }

    /// Gives a file another name, if it is still what the plan saw and the name is free.
    ///
    /// - Returns: What it is then, with the time `modified`, and its permissions if it got others.
    /// - Throws: `targetChanged` with the path that is not as it was. The file has its old name
    ///   then, unless it was the last step that failed.
    package func rename(
        _ path: RelativePath,
        expected: FileIdentity,
        to newPath: RelativePath,
        modified: Timestamp,
        mode: UInt32? = nil
    ) throws(LocalError) -> (identity: FileIdentity, permissions: UInt32?) {
        do throws(LocalError) {
            let (parent, status) = try unchanged(path, expected)
            var target = root
            if let directory = newPath.parent {
                try names.requireOwn(directory, makes: true)
                target = try root.directory(beneath: directory, creatingWithMode: 0o777)
            }
            let (name, newName) = (PathBytes(path.name), PathBytes(newPath.name))
            try IdentityFile.refuse(newPath, parent, name)
            sharedFiles.note(status)
            if path.parent != newPath.parent { try limitRights(of: name, status, parent, target) }
            do throws(LocalError) {
                try rename(path, status, in: parent, to: newPath, in: target)
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
            let held = status.permissions & 0o777
            if let mode, case let wanted = NewFileModes.narrowed(held, to: mode), wanted != held {
                try calls.setModeIfPossible(
                    file.descriptor,
                    status.permissions & ~0o777 | wanted
                )
            }
            let found = try file.status()
            let isChanged = found.permissions != status.permissions
            return (found.identity, isChanged ? found.permissions & 0o777 : nil)
        } catch {
            throw disk.explained(error, neededBytes: nil)
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
        let file = try place.file(name, name.display)
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
        in parent: OpenDirectory,
        to newPath: RelativePath,
        in target: OpenDirectory
    ) throws(LocalError) {
        let (name, newName) = (PathBytes(path.name), PathBytes(newPath.name))
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

// MARK: - Permissions

extension MirrorDirectory {
    /// The bits for owner, group and others that a file gets whose object's metadata say `mode`.
    package func permissions(ofObject mode: UInt32) throws(LocalError) -> UInt32 {
        let permissions = try partials.modes().permissions(.ofObject(mode))
        if mode & 0o777 & ~permissions != 0 { calls.refusals.note(.permissionsOfUmask) }
        return permissions
    }

    /// Gives a file the bits for owner, group and others, if it is still the expected one; what it
    /// is then.
    ///
    /// Where it has an access list, whose mask the group's bits are, bits are only taken away.
    package func setPermissions(
        _ permissions: UInt32,
        of path: RelativePath,
        expected: FileIdentity
    ) throws(LocalError) -> (identity: FileIdentity, permissions: UInt32) {
        let file = try openForReading(path)
        let status = try file.status()
        guard status.identity == expected, file.linkText == nil else { throw .targetChanged(path) }
        var wanted = permissions & 0o777
        if try calls.list(.access, of: file.descriptor) != nil { wanted &= status.permissions }
        try calls.setMode(file.descriptor, status.permissions & ~0o777 | wanted)
        let found = try file.status()
        return (found.identity, found.permissions & 0o777)
    }

    /// The permissions that `mkdir` gives in this process: what no marker has to record.
    package static let ordinaryPermissions: UInt32 = {
        let told = osssync_umask()
        if told >= 0 { return 0o777 & ~UInt32(told) }
        // Changed for a moment, where a system does not tell it.
        let mask = umask(0o077)
        umask(mask)
        return 0o777 & ~UInt32(mask)
    }()

    /// The bits for owner, group and others of a directory; nil for one that a run made and whose
    /// marker was not asked yet.
    package func permissions(ofDirectory path: RelativePath) throws(LocalError) -> UInt32? {
        let status = try root.directory(beneath: path).status()
        return status.isUnasked ? nil : status.permissions & 0o777
    }

    /// The permissions of a directory here whose marker says `mode`: no more than the umask allows,
    /// and always reading and entering for its owner, because later runs walk it.
    package func permissions(ofMarker mode: UInt32) throws(LocalError) -> UInt32 {
        let permissions = mode & (try partials.modes().allowed) | 0o500
        if mode & 0o777 & ~permissions != 0 { calls.refusals.note(.permissionsOfUmask) }
        return permissions
    }

    /// Gives a directory the bits for owner, group and others; those that it has then, or nil if it
    /// had other ones than `expected`, which are kept.
    ///
    /// Where it has an access list, whose mask the group's bits are, the group and others only lose
    /// some. What cannot be set is told once, and is no failure.
    package func setPermissions(
        _ permissions: UInt32,
        ofDirectory path: RelativePath,
        expected: UInt32?
    ) throws(LocalError) -> UInt32? {
        let opened = try root.directory(beneath: path)
        let status = try opened.status()
        if let expected, status.permissions & 0o777 != expected { return nil }
        var wanted = permissions & 0o777
        if try calls.list(.access, of: opened.descriptor) != nil {
            wanted &= status.permissions | 0o700
        }
        let kept = status.permissions & ~0o777 & ~(status.isUnasked ? 0o1000 : 0)
        guard kept | wanted != status.permissions else { return wanted }
        try calls.setModeIfPossible(opened.descriptor, kept | wanted)
        let found = try opened.status().permissions & 0o777
        if found != wanted { calls.refusals.note(.permissions) }
        return found
    }
}

extension OpenDirectory {
    /// The bits for owner, group and others; nil for those that every directory gets that is made
    /// in its place, because a list of the directory `around` it says so.
    func chosenPermissions(_ status: FileStatus, in around: OpenDirectory) -> UInt32? {
        let permissions = status.permissions & 0o777
        guard permissions != MirrorDirectory.ordinaryPermissions,
            let list = around.accessList(.forNewFiles), list.permissions == permissions,
            // A directory that was made under such a list has it, too.
            accessList(.forNewFiles) == list,
            accessList(.access).map({ $0 == list }) ?? !list.hasMask
        else { return permissions }
        return nil
    }

    private func accessList(_ attribute: ListAttribute) -> AccessList? {
        (try? calls.list(attribute, of: descriptor)).flatMap { $0 }.flatMap(AccessList.init)
    }
}

extension SystemCalls {
    /// Permissions that allow no more than the open file or directory does.
    ///
    /// With an access control list, the bits of the group are its mask, and say nothing of the
    /// group. What has a list that cannot be read says nothing of anybody but its owner.
    func sharedPermissions(_ permissions: UInt32, of descriptor: Int32) -> UInt32 {
        guard permissions & 0o070 != 0, mayHaveList(.access, of: descriptor) else {
            return permissions
        }
        let list = (try? list(.access, of: descriptor)).flatMap { $0 }.flatMap(AccessList.init)
        return permissions & (list?.withoutList ?? 0o700)
    }
}

extension MirrorDirectory {
    /// What other machines are told in place of `permissions`, which a file or directory has.
    package func sharedPermissions(_ permissions: UInt32, of path: RelativePath) -> UInt32 {
        guard permissions & 0o077 != 0 else { return permissions }
        if path.isDirectory {
            guard let opened = try? root.directory(beneath: path) else {
                return permissions & 0o700
            }
            return calls.sharedPermissions(permissions, of: opened.descriptor)
        }
        guard let file = try? openForReading(path) else { return permissions & 0o700 }
        return sharedPermissions(permissions, of: file, at: path)
    }

    /// The same of an open file.
    ///
    /// Elsewhere, the copy of a file behind a link lies where the link is: nobody may read it there
    /// whom a directory around the file keeps out here.
    package func sharedPermissions(
        _ permissions: UInt32,
        of file: OpenFile,
        at path: RelativePath
    ) -> UInt32 {
        var shared = file.sharedPermissions(permissions)
        guard path.isFollowed, shared & 0o077 != 0 else { return shared }
        guard case .file(let target, _)? = try? root.followed(path) else { return shared & 0o700 }
        for around in sequence(first: target, next: \.parent).dropFirst()
        where !path.bytes.starts(with: around.bytes + [UInt8(ascii: "/")]) {
            let found = (try? permissionsForOthers(of: around)) ?? 0
            if found & 0o010 == 0 { shared &= ~0o070 }
            if found & 0o001 == 0 { shared &= ~0o007 }
        }
        return shared
    }

    private func permissionsForOthers(of path: RelativePath) throws(LocalError) -> UInt32 {
        let opened = try root.directory(beneath: path)
        return calls.sharedPermissions(try opened.status().permissions, of: opened.descriptor)
    }
}
