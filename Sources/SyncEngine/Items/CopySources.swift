internal import ManifestStore
internal import ObjectStorage
internal import SyncModel
internal import SyncPlanner

/// Finds what has the content of a new key already: on the disk for a download, in the bucket for
/// an upload.
struct CopySources: ItemWorker {
    let parts: ItemParts

    var renames: RenameLookup {
        RenameLookup(
            smallestWorthAsking: context.limits.smallestWorthAsking,
            maximumCandidates: 8,
            judgesInodes: context.policy.judgesInodes
        )
    }

    /// False where nothing is to be looked up: rows of small files are not found by their content,
    /// and in a new mirror a copy of what came in this run costs as many requests as a small object
    /// itself.
    func mayHaveCopies(_ size: Int64) -> Bool {
        let limits = context.limits
        return size >= limits.smallestSearchable
            && (context.earlier.hasEntries || size >= limits.smallestWorthAsking)
    }

    /// The row whose unchanged file has the content of a new key, and the headers of its object.
    func localSource(
        _ entry: JoinedEntry,
        _ object: RemoteObject
    ) async throws -> (row: ManifestEntry, metadata: ObjectMetadata)? {
        let source: RenameCandidate
        var metadata: ObjectMetadata?
        switch try await content(of: object) {
        case .none: return nil
        case .copy(let candidate): source = candidate
        case .checksum(let possible):
            metadata = try await head(entry.key, knownSize: object.size)
            guard let checksum = metadata?.crc64, metadata?.etag == object.etag,
                let match = renames.match(checksum, among: possible)
            else { return nil }
            source = match
        }
        if metadata == nil { metadata = try await head(entry.key, knownSize: object.size) }
        guard let metadata, metadata.etag == object.etag else { return nil }
        return (source.row, metadata)
    }

    private func content(of object: RemoteObject) async throws -> ContentSource {
        guard object.size > 0, mayHaveCopies(object.size) else { return .none }
        var candidates: [RenameCandidate] = []
        for row in try await self.candidates(for: object) {
            let file = row.isLink ? nil : try await identity(of: row.key)
            candidates.append(RenameCandidate(row: row, file: file, isVanished: false))
        }
        return renames.localSource(for: object, among: candidates)
    }

    /// The row whose content a new key has by all that can be told without a request and without
    /// reading a file.
    func probableSource(_ decision: Decision, _ entry: JoinedEntry) async -> ManifestEntry? {
        guard entry.base == nil else { return nil }
        // What cannot be looked up would be transferred.
        switch decision {
        case .download:
            guard entry.local == nil, let object = entry.remote,
                case .copy(let source)? = try? await content(of: object)
            else { return nil }
            return source.row
        case .upload:
            guard entry.remote == nil, entry.local?.isLink != true, context.policy.judgesInodes,
                let file = entry.local?.identity, file.size > 0, mayHaveCopies(file.size)
            else { return nil }
            for row in (try? await candidates(for: file)) ?? []
            where row.isOf(file) && row.key != entry.key && row.crc64 != nil
                && !row.storageClass.isArchived
            {
                if (try? await identity(of: row.key))?.inode != file.inode { return row }
            }
            return nil
        default: return nil
        }
    }

    private func candidates(for object: RemoteObject) async throws -> [ManifestEntry] {
        let limit = renames.maximumCandidates
        let identical = try await context.manifest.rows(
            .entries(etag: object.etag, size: object.size),
            limit: limit
        )
        guard identical.isEmpty, object.size >= renames.smallestWorthAsking else {
            return identical
        }
        return try await context.manifest.rows(.entries(size: object.size), limit: limit)
    }

    /// The row whose object has the content of a new file.
    func remoteSource(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        _ path: RelativePath
    ) async throws -> ManifestEntry? {
        guard file.size > 0, mayHaveCopies(file.size) else { return nil }
        let rows = try await candidates(for: file)
        guard !rows.isEmpty else { return nil }
        var candidates: [RenameCandidate] = []
        for row in rows {
            let isVanished = try await identity(of: row.key) == nil
            candidates.append(RenameCandidate(row: row, file: nil, isVanished: isVanished))
        }
        switch renames.remoteSource(for: file, at: entry.key, among: candidates) {
        case .none: return nil
        case .copy(let candidate): return candidate.row
        case .checksum(let possible):
            let checksum = try await checksum(of: path, expected: file)
            return renames.match(checksum, among: possible)?.row
        }
    }

    private func candidates(for file: FileIdentity) async throws -> [ManifestEntry] {
        let limit = renames.maximumCandidates
        let same = try await context.manifest.rows(
            .entries(inode: file.inode, size: file.size),
            limit: limit
        )
        guard same.isEmpty, file.size >= renames.smallestWorthAsking else { return same }
        return try await context.manifest.rows(.entries(size: file.size), limit: limit)
    }
}
