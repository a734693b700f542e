internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Small files that were renamed: they are sent anew, their objects keep what other tools put on
/// the old ones, and they count as renamed if what was sent has the recorded checksum.
///
/// 1. The uploads of new small files wait until all rows were planned, or until there are many.
/// 2. One pass over the manifest finds the rows that these very files had, by inode, size and time.
///    Most rows are in no index, and so most runs have no such pass: none if no recorded file is
///    missing.
/// 3. The upload asks for the object of such a row, if the file has that name no more.
struct SmallRenames: ItemWorker {
    let parts: ItemParts

    /// True if a new small file may be a recorded one under a new name.
    ///
    /// A file that was written after the last run ended is in no row, unless its time was in the
    /// future then.
    func mayBeRenamed(_ entry: JoinedEntry) -> Bool {
        guard context.earlier.hasEntries, context.policy.judgesInodes, entry.remote == nil,
            let local = entry.local, !local.isLink, let file = local.identity,
            file.size < context.limits.smallestSearchable
        else { return false }
        guard let end = context.earlier.lastEnd else { return true }
        return file.modified <= end || file.modified > context.clocks.start
    }

    /// True if a row's file is gone from its name, and so small that it may be back under another
    /// one; a new file may have its name, as with logs.
    func mayHaveBeenRenamed(_ entry: JoinedEntry) -> Bool {
        guard context.tracker.direction != .pull, let row = entry.base,
            entry.local?.identity?.inode != row.inode
        else { return false }
        return row.mayBeOfRenamedFile && row.size < context.limits.smallestSearchable
    }

    /// The rows that new files may have had under other names, by inode.
    func earlierRows(of uploads: [JoinedEntry]) async throws -> [UInt64: [ManifestEntry]] {
        let files = uploads.compactMap { $0.local?.identity }
        let byInode = Dictionary(files.map { ($0.inode, $0) }) { first, _ in first }
        var found: [UInt64: [ManifestEntry]] = [:]
        try await context.manifest.forEachPage(
            inodes: Set(byInode.keys),
            in: context.paths.ranges.ranges,
            scanning: context.limits.batch
        ) { rows in
            try Task.checkCancellation()
            for row in rows where row.mayBeOfRenamedFile {
                guard let file = byInode[row.inode], row.isOf(file) else { continue }
                found[row.inode, default: []].append(row)
            }
        }
        return found
    }

    /// The row that a new file had before it was renamed, and what other tools put on its object
    /// then, if there is any; nil if it had none.
    ///
    /// Whatever fails here costs the properties, and not the upload.
    func beforeRename(_ rows: [ManifestEntry], of file: FileIdentity) async -> BeforeRename? {
        var first: ManifestEntry?
        for row in rows {
            // Of a hard link, both names are of one file.
            guard (try? await identity(of: row.key))?.inode != file.inode else { continue }
            first = first ?? row
            guard var metadata = try? await head(row.key) else { continue }
            if metadata.etag != row.etag {
                // A new file of that name may have been sent, which left them as they were.
                guard let token = metadata.userMetadata[StorageDialect.tokenMetadataName],
                    context.uploads.isOwn(token, of: row.key, size: metadata.size)
                else { continue }
            }
            // The type that its old name stands for is no choice of anybody's.
            if metadata.contentType == ContentType.guess(for: row.key) {
                metadata.contentType = nil
            }
            return BeforeRename(row: row, object: metadata)
        }
        return first.map { BeforeRename(row: $0, object: nil) }
    }

    /// The row of the old name, if what was sent is the recorded content, and filters do not leave
    /// the name out.
    func oldRow(_ former: BeforeRename?, _ sent: FinishedUpload) -> ManifestEntry? {
        guard let row = former?.row, let checksum = sent.checksum, row.crc64 == checksum,
            !context.filter.excludes(row.key)
        else { return nil }
        return row
    }
}

/// What a file was before it was renamed.
struct BeforeRename: Sendable {
    let row: ManifestEntry
    let object: ObjectMetadata?
}

/// Which small files have other names by now, as far as a plan shows it that is not carried out.
struct ShownRenames {
    /// Of names and of files; what is beyond counts as sent and deleted.
    private static let limit = 100_000

    private var files: [(identity: FileIdentity, key: ObjectKey)] = []
    private var rows: [UInt64: [ManifestEntry]] = [:]

    /// Notes the row of an entry whose file may have another name.
    mutating func noteRow(of entry: JoinedEntry, _ renames: SmallRenames) {
        guard rows.count < Self.limit, let row = entry.base, row.crc64 != nil,
            renames.mayHaveBeenRenamed(entry)
        else { return }
        rows[row.inode, default: []].append(row)
    }

    /// Notes a file that is to be sent.
    mutating func noteUpload(_ entry: JoinedEntry, _ renames: SmallRenames) {
        guard files.count < Self.limit, entry.base == nil, renames.mayBeRenamed(entry),
            let file = entry.local?.identity
        else { return }
        files.append((file, entry.key))
    }

    /// Both names of each file that is sent under a new one; several may have the same old one.
    var names: [(old: ObjectKey, new: ObjectKey)] {
        var turns = OldNameTurns()
        return files.compactMap { file, key in
            guard let rows = rows[file.inode]?.filter({ $0.isOf(file) }), !rows.isEmpty else {
                return nil
            }
            return (rows[turns.next(file, of: rows.count)].key, key)
        }
    }
}

/// Gives each of several new names of one file an old name of its own.
struct OldNameTurns {
    private var used: [UInt64: Int] = [:]

    /// Which of `count` old names the next new one gets; 0 if there are none.
    mutating func next(_ file: FileIdentity, of count: Int) -> Int {
        guard count > 1 else { return 0 }
        defer { used[file.inode, default: 0] += 1 }
        return used[file.inode, default: 0] % count
    }
}

extension ManifestEntry {
    fileprivate var mayBeOfRenamedFile: Bool { inode != 0 && !isLink && !isThroughLink }
}
