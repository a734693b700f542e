internal import CLibrary
package import SyncModel

extension MirrorDirectory {
    /// A new walk from the beginning, of what has a key in `ranges`; no other directories are
    /// entered than those that lead there.
    ///
    /// A directory that has one of `tags` is left out with all it holds, and reported as an issue;
    /// but not the mirrored directory itself. With `asksOfTags`, the walk ends a batch at each such
    /// directory, and goes on once it has an answer. A link to what `hides` says is not followed.
    package func walk(
        within ranges: KeyRanges,
        tags: DirectoryTags = DirectoryTags(),
        asksOfTags: Bool = false,
        links: LinkPolicy = .skip,
        names: NamePolicy = .skip,
        looksBeneathUnnamed: Bool = false,
        notFollowing hides: @escaping DirectoryWalk.Exclusion = { _, _ in false },
        leavingOut isExcluded: @escaping DirectoryWalk.Exclusion
    ) -> DirectoryWalk {
        DirectoryWalk(
            root: root,
            path: path,
            within: ranges,
            tags: tags,
            asksOfTags: asksOfTags,
            links: links,
            names: names,
            looksBeneathUnnamed: looksBeneathUnnamed,
            notFollowing: hides,
            leavingOut: isExcluded
        )
    }

    /// The directory that holds `path`.
    func parent(of path: RelativePath) throws(LocalError) -> OpenDirectory {
        try root.parent(of: path)
    }

    /// What is at `path` now; links are not followed, and one is the file of the path of a link.
    ///
    /// - Throws: `symlinkInPath` if a parent is a symbolic link. A parent that is a file leaves
    ///   `path` absent.
    package func identity(of path: RelativePath) throws(LocalError) -> LocalState {
        try state(at: path) ?? .absent
    }

    /// The same; nil if not even the directory is there that `path` lies in.
    package func state(at path: RelativePath) throws(LocalError) -> LocalState? {
        try root.state(at: path)
    }

    /// True if something is in the directory of escaped names.
    package func hasEscapedNames() -> Bool {
        let name = PathBytes(EscapedName.directoryName.utf8)
        let names = (try? root.subdirectory(name)).flatMap { try? DirectoryNames(of: $0) }
        return names?.isOfEmptyDirectory == false
    }

    /// Bytes that this user may still write; of a directory that is not there yet, above it.
    package func freeBytes() throws(LocalError) -> Int64 {
        guard scratch != nil else { return try disk.freeBytes() }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        while true {
            let place = parts.joined(separator: "/")
            let found = place.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : place
            do throws(LocalError) {
                let root = try GivenPath.open(found, calls: calls)
                return try calls.freeSpace(root.descriptor).bytes
            } catch {
                guard case .missingDirectory = error, parts.popLast() != nil else { throw error }
            }
        }
    }

    /// Writes out the file system `device` that begins beneath the directory, which
    /// ``MirrorDisk/synchronize()`` does not reach, by a file on it.
    ///
    /// - Returns: False if there is nothing of it at `path` any more.
    package func synchronize(
        _ device: UInt64,
        by path: RelativePath
    ) throws(LocalError) -> Bool {
        do throws(LocalError) {
            let parent = try parent(of: path)
            if try parent.status().identity.device == device {
                try calls.synchronizeFileSystem(parent.descriptor)
                return true
            }
            // The file itself is mounted.
            let file = try openForReading(path)
            guard try file.identity().device == device else { return false }
            try calls.synchronizeFileSystem(file.descriptor)
            return true
        } catch {
            switch error {
            case .absent, .parentIsFile, .symlinkInPath, .targetIsDirectory, .targetIsSpecial,
                .targetChanged:
                return false
            default:
                // Nothing can be waiting to be written to it.
                if error.errno == EROFS || error.errno == EINVAL { return true }
                throw error
            }
        }
    }

    /// Opens a regular file, or where the path is that of a link, the link itself.
    ///
    /// Anything else at `path`, or that replaces the file meanwhile, is not opened, or is closed
    /// again untouched.
    ///
    /// - Throws: `absent`, `targetIsDirectory`, `targetIsSpecial`, `symlinkInPath`, `parentIsFile`
    ///   or `targetChanged`.
    package func openForReading(_ path: RelativePath) throws(LocalError) -> OpenFile {
        if path.isFollowed {
            guard case .file(let target, _) = try root.followed(path) else {
                throw .targetChanged(path)
            }
            return try openForReading(target)
        }
        let parent = try parent(of: path)
        let name = PathBytes(path.name)
        // Opening a FIFO or a device can have effects of its own, so the first look comes before.
        let seen = try parent.status(of: name)
        switch seen?.kind {
        case nil: throw .absent(path)
        case .special(.symbolicLink) where path.isLink:
            let link = try OpenFile(link: name, in: parent, path)
            guard let seen, try link.status().isSameObject(as: seen) else {
                throw .targetChanged(path)
            }
            return link
        case .file where path.isLink: throw .targetChanged(path)
        case .directory: throw .targetIsDirectory(path)
        case .special(let kind): throw .targetIsSpecial(path, kind)
        case .file: break
        }
        let file: OpenFile
        do throws(LocalError) {
            file = try parent.file(name, path.display)
        } catch {
            switch error.errno {
            case ENOENT: throw .absent(path)
            case ELOOP, ENXIO: throw .targetChanged(path)
            default: throw error
            }
        }
        let status = try file.status()
        guard let seen, status.kind == .file, status.isSameObject(as: seen) else {
            throw .targetChanged(path)
        }
        return file
    }

    /// Of the directory itself: another one than last time means another disk, a disk that is not
    /// mounted, or a copy.
    package func rootIdentity() throws(LocalError) -> RootIdentity { try RootIdentity(of: root) }

    /// False if something else is at the directory's path now, or nothing.
    package func isAtItsPath() throws(LocalError) -> Bool {
        do throws(LocalError) {
            let found = try GivenPath.open(path, calls: calls)
            return try found.status().isSameObject(as: root.status())
        } catch {
            switch error {
            case .missingDirectory, .notADirectory: return false
            default: throw error
            }
        }
    }

    /// False if files have other inode numbers after the next mount, as far as that is known.
    package func keepsInodeNumbers() throws(LocalError) -> Bool {
        try calls.keepsInodeNumbers(root.descriptor)
    }

    /// Of the directory at `path`, at which another mount begins; nil where the system does not
    /// tell when it was made: what tells disks apart there may be another thing after each mount.
    package func mountIdentity(_ path: RelativePath) -> RootIdentity? {
        guard let opened = try? root.directory(beneath: path),
            let identity = try? RootIdentity(of: opened), case .birth = identity.disk
        else { return nil }
        return identity
    }

    /// True for a file system that has the state, too: both are rolled back together.
    package func hasState(_ device: UInt64) throws(LocalError) -> Bool {
        try state.device() == device
    }

    /// When a directory above `path` last got or lost a name, up to where its mount begins; nil for
    /// a mount that has the state, or whose inodes and ctimes do not last.
    package func lastChange(above path: RelativePath) throws(LocalError) -> Timestamp? {
        var newest: (device: UInt64, change: Timestamp)?
        var next = path.parent
        while true {
            let directory = next.map { try? root.directory(beneath: $0) } ?? root
            if let found = try directory?.status().identity {
                let known = newest ?? (found.device, found.changed)
                if newest == nil, let descriptor = directory?.descriptor {
                    let lasts = try root.calls.keepsInodeNumbers(descriptor)
                    let hasState = try hasState(found.device)
                    guard lasts, !hasState else { return nil }
                }
                guard known.device == found.device else { break }
                newest = (found.device, max(known.change, found.changed))
            }
            guard let above = next else { break }
            next = above.parent
        }
        return newest?.change
    }

    /// When the file at `path` was made; nil where that is not known.
    package func birth(of path: RelativePath) throws(LocalError) -> Timestamp? {
        guard !path.isFollowed else { return nil }
        let parent = try parent(of: path)
        guard try calls.keepsBirthTimes(parent.descriptor) else { return nil }
        return calls.birth(at: parent.descriptor, PathBytes(path.name))
    }

    /// True if another mount than that of the directory around it begins at `path`.
    ///
    /// - Throws: What keeps it from being looked at; that it is absent is no error.
    package func isMountPoint(_ path: RelativePath) throws(LocalError) -> Bool {
        do throws(LocalError) {
            let parent = try parent(of: path)
            guard let status = try parent.status(of: PathBytes(path.name)) else { return false }
            return try status.isMountPoint(in: parent.status())
        } catch {
            switch error {
            case .absent, .parentIsFile, .symlinkInPath: return false
            default: throw error
            }
        }
    }

    /// Fails for a path in the state of another mirror, where nothing is mirrored.
    ///
    /// - Throws: `unsafeDirectory`.
    package func requireNoState(above path: RelativePath) throws(LocalError) {
        for place in sequence(first: path, next: \.parent) {
            guard let opened = try? root.directory(beneath: place), IdentityFile.isState(opened)
            else {
                continue
            }
            throw .unsafeDirectory(
                path: place.display,
                reason: "it is the state directory of a mirror, in which nothing is mirrored"
            )
        }
    }

    /// True if the state is on a file system where SQLite's write-ahead log is not reliable.
    package func stateIsOnNetworkFileSystem() throws(LocalError) -> Bool {
        try calls.isNetworkFileSystem(state.directory.descriptor)
    }

    /// True if there is something in it, false if there is nothing; nil if it is absent or not a
    /// directory.
    package func holdsSomething(_ path: RelativePath) throws(LocalError) -> Bool? {
        do throws(LocalError) {
            let directory = try root.directory(beneath: path)
            var isEmpty = true
            try unsafe calls.readNames(in: directory.descriptor) { _, _ in
                isEmpty = false
                return false
            }
            return !isEmpty
        } catch {
            switch error {
            case .absent, .parentIsFile, .symlinkInPath: return nil
            default: break
            }
            switch error.errno {
            case ENOENT, ENOTDIR, ELOOP: return nil
            default: throw error
            }
        }
    }
}
