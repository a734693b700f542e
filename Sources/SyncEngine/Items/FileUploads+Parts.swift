internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What is known of the parts of objects, so that a store can copy them.
extension FileUploads {
    /// Bytes that the store may copy from the version which an upload replaces, at most.
    func copiedBytes(_ entry: JoinedEntry) async -> Int64 {
        guard let file = entry.local?.identity,
            let parts = await sentParts(of: file, entry.key, replacing: entry.remote?.etag)
        else { return 0 }
        return min(parts.size, file.size)
    }

    /// What is known of the version that the upload replaces, if its parts may be copied from it.
    func sentParts(
        of file: FileIdentity,
        _ key: ObjectKey,
        replacing etag: ETag?
    ) async -> SentParts? {
        guard let etag else { return nil }
        return await sentParts(of: key, version: etag, fileSize: file.size)
    }

    /// What is recorded of the parts of that version, if they are of use for a file of that size.
    private func sentParts(
        of key: ObjectKey,
        version etag: ETag,
        fileSize: Int64
    ) async -> SentParts? {
        guard fileSize > context.transfer.partSize, context.store.cipher == nil,
            let parts = try? await context.manifest.sentParts(of: key), parts.etag == etag,
            await !RefusedPartCopies.areKnown(to: context.manifest, context.environment.now())
        else { return nil }
        return parts
    }

    /// What is known of the parts of a row's object, for the copy that was made of it.
    func sentParts(of row: ManifestEntry, as copy: ManifestEntry) async -> SentParts? {
        guard let known = await sentParts(of: row.key, version: row.etag, fileSize: row.size)
        else { return nil }
        return SentParts(
            key: copy.key,
            etag: copy.etag,
            size: known.size,
            partSize: known.partSize,
            contents: known.contents
        )
    }
}
