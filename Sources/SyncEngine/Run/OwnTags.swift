internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Which tags leave a directory out: those that this machine made.
///
/// Whoever writes to the bucket could end the backups of a directory by putting one there, also
/// after it was taken away again, because nothing in a tagged directory is deleted.
struct OwnTags: RunStep {
    /// How often a manifest that a run writes is read, and the time between.
    private static let readings = 4
    private static let interval = Duration.milliseconds(250)

    let setup: RunSetup
    /// Where a plan notes what it met.
    let copies: TagCopies?

    init(_ setup: RunSetup, _ copies: TagCopies? = nil) {
        (self.setup, self.copies) = (setup, copies)
    }

    /// Why the directory with these tags is left out; nil if all of them came from the bucket and
    /// were not changed here since.
    ///
    /// With `isNew` the manifest had no row when the run began.
    func reason(of found: FoundTags, isNew: Bool) async throws -> WalkIssue.Reason? {
        for tag in found.tags
        where try await !isFetched(tag, in: found.directory, isNew: isNew) { return tag.reason }
        return nil
    }

    private func isFetched(
        _ tag: FoundTags.Tag,
        in directory: [UInt8],
        isNew: Bool
    ) async throws -> Bool {
        guard let file = tag.file else {
            // A link is the one that a stored link became, or this machine's.
            let row = try await record(of: tag.key.ofLink, isNew: isNew)?.row
            return row?.isLink == true && row?.isFetched == true
        }
        // Where it is not known, nothing beneath is to be deleted.
        guard let record = try await record(of: tag.key, isNew: isNew) else { return false }
        guard let row = record.row else {
            if record.isNew, try await isInBucket(tag.key) { return true }
            copies?.note(own: tag, in: directory)
            return false
        }
        guard row.isFetched else { return false }
        copies?.note(fetched: row)
        let judgesInodes = policy.knowsDirectory && policy.judgesInodes
        let isSameInode = !judgesInodes || file.inode == row.inode
        return isSameInode && file.size == row.size && row.mayHaveTime(of: file)
    }

    /// The row of a tag, and whether the manifest that would have it had none at all.
    ///
    /// It may be that of another shard, which must come to the same answer.
    ///
    /// Nil if that cannot be read, as after a kill.
    private func record(
        of key: ObjectKey,
        isNew: Bool
    ) async throws -> (row: ManifestEntry?, isNew: Bool)? {
        guard let shard = settings.shard, !shard.range.contains(key) else {
            return (try await session.manifest.entry(key), isNew)
        }
        for attempt in 1...Self.readings {
            do {
                let (directory, environment) = (session.directory, settings.environment)
                guard let other = try await shard.manifest(with: key, in: directory, environment)
                else { return (nil, true) }
                return (try await other.entry(key), try await other.entryCount() == 0)
            } catch ManifestError.inUse {
                // A run writes it.
                guard attempt < Self.readings else { break }
                try await settings.environment.sleep(Self.interval)
            }
        }
        return nil
    }

    private func isInBucket(_ key: ObjectKey) async throws(StorageError) -> Bool {
        do throws(StorageError) {
            _ = try await setup.store.head(
                ObjectKey(settings.prefix.bytes + key.bytes),
                versionID: nil
            )
            return true
        } catch {
            guard error.isNotFound else { throw error }
            return false
        }
    }

    /// The recorded mounts that this run leaves out: what is known of them stays recorded.
    func leftOutMounts(_ scope: PlanScope) async throws -> Set<[UInt8]> {
        if filter.tags.staysOnFileSystem { return Set(session.known.mountPoints) }
        var leftOut: Set<[UInt8]> = []
        for mount in session.known.mountPoints {
            if scope.isExcludedFromWalk(mount, true) {
                leftOut.insert(mount)
                continue
            }
            guard let path = try? RelativePath(key: ObjectKey(mount)) else { continue }
            for found in session.directory.tags(above: path, filter.tags)
            where try await reason(of: found, isNew: false) != nil {
                leftOut.insert(mount)
            }
        }
        return leftOut
    }
}
