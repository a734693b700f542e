internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner
internal import Synchronization

/// Renames in the bucket that are renames on the disk: no second copy, and no room for one.
///
/// A file gets the name of a new key only in the place of its own deletion, with everything that
/// guards one, and after its content was read and found to be the new key's. Until then it keeps
/// its name, and never has two.
struct LocalRenames: Sendable {
    let executor: ItemExecutor

    private var context: RunContext { executor.context }

    /// A file whose content was found to be that of a new key.
    struct Proven: Sendable {
        let source: RunLedger.PendingRename
        let checksum: CRC64
        /// What the new object says of permissions; nil to keep those of the file.
        let mode: UInt32?

        func carryOut(
            _ old: RelativePath,
            _ expected: FileIdentity,
            to new: RelativePath,
            in directory: MirrorDirectory
        ) throws(LocalError) -> (identity: FileIdentity, permissions: UInt32?) {
            let modified = ModificationTime.of(
                userMetadata: source.metadata.userMetadata,
                lastModified: source.metadata.lastModified
            )
            return try directory.rename(
                old,
                expected: expected,
                to: new,
                modified: modified ?? source.row.localModified,
                mode: mode
            )
        }

        /// The new key's row, once the file is `identity`.
        ///
        /// `permissions` are those that it got with the name; nil if it kept its own.
        func row(_ identity: FileIdentity, permissions: UInt32?) -> ManifestEntry {
            var row = ManifestEntry(
                key: source.entry.key,
                size: source.object.size,
                etag: source.object.etag,
                crc64: checksum,
                lastModified: source.metadata.lastModified ?? source.object.lastModified,
                storageClass: source.object.storageClass,
                localModified: identity.modified,
                inode: identity.inode,
                isThroughLink: source.object.isThroughLink,
                changed: identity.recordedChange,
                mode: permissions ?? source.row.mode
            )
            row.isFetched = true
            return row
        }
    }

    /// Those that can be carried out with the deletions, by the keys that their files have now; the
    /// other new keys are copied or fetched.
    func resolve() async throws -> [ObjectKey: Proven] {
        var waiting: [(source: RunLedger.PendingRename, file: FileIdentity?)] = []
        var taken: Set<ObjectKey> = []
        for source in executor.ledger.take(\.renames) {
            let planned = try await context.manifest.plannedDeletion(
                run: context.run,
                side: .local,
                of: source.row.key
            )
            let file = planned?.identity
            // A file can be renamed only once; other keys with its content get a copy first.
            let isFirst = file != nil && taken.insert(source.row.key).inserted
            waiting.append((source, isFirst ? file : nil))
        }
        let proven = Mutex<[ObjectKey: Proven]>([:])
        try await executor.forEach(waiting, countsRest: true) { item in
            if let file = item.file, let checksum = await proof(item.source, file) {
                let keepsMetadata = context.options.keepsFileMetadata
                let rename = Proven(
                    source: item.source,
                    checksum: checksum,
                    mode: keepsMetadata ? FileMode.of(item.source.metadata) : nil
                )
                proven.withLock { $0[item.source.row.key] = rename }
            } else {
                await executor.downloads.download(item.source.entry, .replace)
            }
        }
        await executor.publications.flush()
        return proven.withLock { $0 }
    }

    /// Copies or fetches what is not to be renamed after all.
    func download(_ renames: [Proven]) async throws {
        try await executor.forEach(renames, countsRest: true) { rename in
            await executor.downloads.download(rename.source.entry, .replace)
        }
    }

    /// The file's checksum, if its content is that of the new key; if anything is wrong, a download
    /// reports it.
    private func proof(_ source: RunLedger.PendingRename, _ expected: FileIdentity) async -> CRC64?
    {
        let directory = context.directory
        let size = source.object.size
        do {
            let path = try context.path(of: source.row.key)
            let (file, checksum) = try await context.reading { interruption in
                let file = try directory.openForReading(path)
                let whole = ByteRange(offset: 0, length: size)
                return (file, try file.checksum(of: whole, unless: interruption))
            }
            let isCopy = try await executor.contents.isCopy(file, checksum, of: source.metadata)
            guard isCopy, try directory.isAsSeen(file.identity(), expected) else { return nil }
            return checksum
        } catch {
            return nil
        }
    }
}
