internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// Which tags leave a directory out: those that this machine made.
///
/// Whoever writes to the bucket could end the backups of a directory by putting one there, also
/// after it was taken away again, because nothing in a tagged directory is deleted.
extension MirrorRun {
    /// Why the directory with these tags is left out; nil if all of them came from the bucket and
    /// were not changed here since.
    func reason(of found: FoundTags) async throws -> WalkIssue.Reason? {
        let judgesInodes = try session.directory.keepsInodeNumbers()
        for tag in found.tags {
            guard let file = tag.file, let row = try await session.manifest.entry(tag.key),
                row.isFetched
            else { return tag.reason }
            let isSameInode = !judgesInodes || file.inode == row.inode
            guard isSameInode, file.size == row.size, row.mayHaveTime(of: file) else {
                return tag.reason
            }
        }
        return nil
    }

    /// The recorded mounts that this run leaves out: what is known of them stays recorded.
    func leftOutMounts() async throws -> Set<[UInt8]> {
        if filter.tags.staysOnFileSystem { return Set(session.known.mountPoints) }
        var leftOut: Set<[UInt8]> = []
        let scope = scope
        for mount in session.known.mountPoints {
            if scope.isExcludedFromWalk(mount, true) {
                leftOut.insert(mount)
                continue
            }
            guard let path = try? RelativePath(key: ObjectKey(mount)) else { continue }
            for found in session.directory.tags(above: path, filter.tags)
            where try await reason(of: found) != nil {
                leftOut.insert(mount)
            }
        }
        return leftOut
    }
}
