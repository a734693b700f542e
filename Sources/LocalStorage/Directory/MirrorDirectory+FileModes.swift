package import SyncModel
internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension MirrorDirectory {
    /// The permissions that new files get from this process, found by making one: asking for the
    /// umask would mean to change it for a moment, for every thread.
    func newFileModes() throws(LocalError) -> NewFileModes {
        let directory = try partials
        return try opened.withLock { opened throws(LocalError) in
            if let modes = opened.fileModes { return modes }
            // A kill may leave it behind: under this name it is swept like any other.
            let (name, descriptor) = try makeProbe(in: directory)
            let probe = OpenFile(adopting: descriptor, name: name.display, calls: calls)
            let status = Result { () throws(LocalError) in try probe.status() }
            try calls.unlink(at: directory.descriptor, name)
            let modes = NewFileModes(allowed: try status.get().permissions & 0o777)
            opened.fileModes = modes
            return modes
        }
    }

    /// The bits for owner, group and others that a file gets whose object's metadata say `mode`.
    package func permissions(ofObject mode: UInt32) throws(LocalError) -> UInt32 {
        let permissions = try newFileModes().permissions(.ofObject(mode))
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

    private func makeProbe(
        in directory: OpenDirectory
    ) throws(LocalError) -> (PathBytes, Int32) {
        var names = partialSeries?.names ?? [newNames.next()]
        while true {
            let name = fileName(names.removeLast())
            do throws(LocalError) {
                let descriptor = try calls.open(
                    at: directory.descriptor,
                    name,
                    flags: SystemCalls.creationFlags,
                    mode: 0o777
                )
                return (name, descriptor)
            } catch {
                // Of a single file, the names are known beforehand.
                guard error.errno == EEXIST, !names.isEmpty else { throw error }
            }
        }
    }
}
