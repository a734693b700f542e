internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// Which tags leave a directory out: those that this machine made.
///
/// Whoever writes to the bucket could end the backups of a directory by putting one there, also
/// after it was taken away again, because nothing in a tagged directory is deleted.
struct OwnTags: Sendable {
    let session: MirrorSession
    let settings: MirrorSettings
    let paths: RunPaths
    let store: LimitedStore
    let tags: DirectoryTags

    /// Why the directory with these tags is left out; nil if all of them came from the bucket and
    /// were not changed here since.
    ///
    /// With `isNew` the manifest had no row when the run began.
    func reason(of found: FoundTags, isNew: Bool) async throws -> WalkIssue.Reason? {
        for tag in found.tags where try await !isFetched(tag, isNew: isNew) { return tag.reason }
        return nil
    }

    private func isFetched(_ tag: FoundTags.Tag, isNew: Bool) async throws -> Bool {
        guard let file = tag.file else {
            // A link is the one that a stored link became, or this machine's.
            let row = try await session.manifest.entry(tag.key.ofLink)
            return row?.isLink == true && row?.isFetched == true
        }
        guard let row = try await session.manifest.entry(tag.key) else {
            return try await mayBeFetched(tag.key, isNew: isNew)
        }
        guard row.isFetched else { return false }
        let judgesInodes = try session.known.isSame && session.directory.keepsInodeNumbers()
        let isSameInode = !judgesInodes || file.inode == row.inode
        return isSameInode && file.size == row.size && row.mayHaveTime(of: file)
    }

    /// True for a file of which this manifest may not know that it was fetched, if the bucket has
    /// its object: a new manifest, and that of another shard.
    private func mayBeFetched(_ key: ObjectKey, isNew: Bool) async throws -> Bool {
        let isOfOthers = settings.shard != nil && !paths.ranges.contains(key)
        guard isOfOthers || isNew else { return false }
        do throws(StorageError) {
            _ = try await store.head(ObjectKey(settings.prefix.bytes + key.bytes), versionID: nil)
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// The recorded mounts that this run leaves out: what is known of them stays recorded.
    func leftOutMounts(_ scope: PlanScope) async throws -> Set<[UInt8]> {
        if tags.staysOnFileSystem { return Set(session.known.mountPoints) }
        var leftOut: Set<[UInt8]> = []
        for mount in session.known.mountPoints {
            if scope.isExcludedFromWalk(mount, true) {
                leftOut.insert(mount)
                continue
            }
            guard let path = try? RelativePath(key: ObjectKey(mount)) else { continue }
            for found in session.directory.tags(above: path, tags)
            where try await reason(of: found, isNew: false) != nil {
                leftOut.insert(mount)
            }
        }
        return leftOut
    }
}
