internal import SyncModel
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
