package import SyncModel

extension MirrorDirectory {
    /// Copies a file or link in the trash of `run` to an absolute path outside of the directory,
    /// with its time and its mode; the directories above are made.
    ///
    /// The copy has its name only when it is complete and durable, and takes that of a file that is
    /// there. The trash stays as it is.
    ///
    /// At and beneath `outside`, no directory is open to more users than the one here.
    package func copyOut(
        _ path: RelativePath,
        from run: TrashOfRun,
        to destination: String,
        in outside: String?,
        unless interruption: Interruption
    ) throws(LocalError) {
        guard let place = try trash.directory.ifPresent(run.name, path.parent),
            let old = try place.status(of: PathBytes(path.name)), old.isKept
        else { throw .absent(path) }
        let folder = try folder(of: path, from: [run], at: destination, in: outside, marker: nil)
        let own =
            destination.utf8.split(separator: UInt8(ascii: "/")).last.map { [UInt8]($0) } ?? []
        let (name, temporary) = (
            PathBytes(own),
            PathBytes(own.prefix(200) + ".\(PartialName.random().text).partial".utf8)
        )
        do throws(LocalError) {
            if old.kind == .file {
                try copy(path, in: place, old, to: folder, temporary, unless: interruption)
            } else {
                let link = try OpenFile(link: PathBytes(path.name), in: place, path)
                let target = try link.read(at: 0, length: Int(old.identity.size))
                try calls.makeLink(PathBytes(target), at: folder.descriptor, temporary)
            }
            try calls.rename(from: folder.descriptor, temporary, to: folder.descriptor, name)
            try calls.synchronize(folder.descriptor)
        } catch {
            _ = try? calls.unlink(at: folder.descriptor, temporary)
            throw error
        }
    }

    /// True if a file outside has the content of this one in the trash.
    package func isCopy(
        _ path: RelativePath,
        from run: TrashOfRun,
        at destination: String,
        unless interruption: Interruption
    ) throws(LocalError) -> Bool {
        guard let place = try trash.directory.ifPresent(run.name, path.parent),
            try place.status(of: PathBytes(path.name))?.kind == .file,
            let copy = try GivenPath.file(destination)
        else { return false }
        let file = try place.file(PathBytes(path.name), path.display)
        let size = try file.identity().size
        guard try copy.identity().size == size else { return false }
        let whole = ByteRange(offset: 0, length: size)
        return try copy.checksum(of: whole, unless: interruption)
            == file.checksum(of: whole, unless: interruption)
    }

    /// Makes the directories in which a copy of `path` is put, and the copy itself if that is a
    /// directory, whose marker says `marker`.
    ///
    /// At and beneath `outside`, none is open to more users than the one here.
    package func makeFolder(
        of path: RelativePath,
        at destination: String,
        in outside: String?,
        marker: UInt32? = nil
    ) throws(LocalError) {
        _ = try folder(of: path, from: [], at: destination, in: outside, marker: marker)
    }

    private func folder(
        of path: RelativePath,
        from runs: [TrashOfRun],
        at destination: String,
        in outside: String?,
        marker: UInt32?
    ) throws(LocalError) -> OpenDirectory {
        let isDirectory = path.isDirectory
        return try GivenPath.folder(
            above: isDirectory ? destination + "/." : destination,
            in: outside,
            calls
        ) { depth throws(LocalError) in
            // The ends of both paths are the same.
            let source = path.ancestor(isDirectory ? depth : depth + 1)
            let said = depth == 0 ? marker : nil
            if let source, let found = try? permissions(ofDirectory: source) {
                return found & (said ?? 0o777) | 0o300
            }
            if let said { return said }
            // The mirror itself, or what is above the copy of it.
            if source == nil { return try root.status().permissions & 0o777 | 0o300 }
            return try trash.permissions(ofMissing: path, standingFor: source, in: runs) | 0o300
        }
    }

    private func copy(
        _ path: RelativePath,
        in place: OpenDirectory,
        _ old: FileStatus,
        to folder: OpenDirectory,
        _ temporary: PathBytes,
        unless interruption: Interruption
    ) throws(LocalError) {
        func open(_ directory: OpenDirectory, _ name: PathBytes, _ flags: Int32)
            throws(LocalError) -> OpenFile
        {
            try directory.file(name, path.display, flags: flags, mode: 0o600)
        }
        let source = try open(place, PathBytes(path.name), SystemCalls.readingFlags)
        let made = try open(folder, temporary, SystemCalls.creationFlags)
        let size = old.identity.size
        let checksum = try source.copyBytes(into: made, size: size, unless: interruption)
        try made.synchronize()
        let whole = ByteRange(offset: 0, length: size)
        guard try made.checksum(of: whole, unless: interruption) == checksum,
            try source.status().isSameVersion(as: old)
        else { throw .targetChanged(path) }
        try calls.setMode(made.descriptor, old.permissions & 0o777)
        try calls.setModified(made.descriptor, old.identity.modified)
        try made.synchronize()
    }
}
