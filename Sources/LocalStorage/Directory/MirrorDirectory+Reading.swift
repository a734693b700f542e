package import SyncModel

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
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
        do throws(LocalError) {
            if path.isFollowed {
                guard case .file(_, let status) = try root.followed(path) else { return .absent }
                return .file(status.identity)
            }
            let status = try parent(of: path).status(of: PathBytes(path.name))
            guard path.isLink, let status else { return status?.state ?? .absent }
            // A link is gone where a file has its name.
            return switch status.kind {
            case .special(.symbolicLink): .file(status.identity)
            case .file: .absent
            case .directory, .special: status.state
            }
        } catch {
            switch error {
            case .absent, .parentIsFile: return nil
            default: throw error
            }
        }
    }

    /// Bytes that this user may still write on the disk of a directory, be it a mirror or not.
    package static func freeBytes(at path: String) throws(LocalError) -> Int64 {
        let root = try openRoot(path, createsIfMissing: false, calls: .standard)
        return try root.calls.freeSpace(root.descriptor).bytes
    }

    /// Bytes that this user may still write; of a directory that is not there yet, above it.
    package func freeBytes() throws(LocalError) -> Int64 {
        guard scratch != nil else { return try calls.freeSpace(work.descriptor).bytes }
        var parts = path.split(separator: "/", omittingEmptySubsequences: false)
        while true {
            let place = parts.joined(separator: "/")
            let found = place.isEmpty ? (path.hasPrefix("/") ? "/" : ".") : place
            do throws(LocalError) {
                let root = try Self.openRoot(found, createsIfMissing: false, calls: calls)
                return try calls.freeSpace(root.descriptor).bytes
            } catch {
                guard case .missingDirectory = error, parts.popLast() != nil else { throw error }
            }
        }
    }

    /// Writes out the file system `device` that begins beneath the directory, which
    /// ``synchronize()`` does not reach, by a file on it.
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
        let descriptor: Int32
        do throws(LocalError) {
            descriptor = try calls.open(
                at: parent.descriptor,
                name,
                flags: SystemCalls.readingFlags,
                mode: 0
            )
        } catch {
            switch error.errno {
            case ENOENT: throw .absent(path)
            case ELOOP, ENXIO: throw .targetChanged(path)
            default: throw error
            }
        }
        let file = OpenFile(adopting: descriptor, name: path.display, calls: calls)
        let status = try file.status()
        guard let seen, status.kind == .file, status.isSameObject(as: seen) else {
            throw .targetChanged(path)
        }
        return file
    }
}
