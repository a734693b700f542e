internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Copies within the bucket, so that a renamed file moves no bytes.
struct RemoteCopier: Sendable {
    private static let preferredPartSize: Int64 = 256 << 20

    let context: TransferContext

    /// Copies the object that `row` records, if it is still that version.
    ///
    /// With `modified` the copy's metadata notes that mtime; nil keeps the source's. The result is
    /// what the copy is, confirmed by its headers; nil if the source is gone or another version,
    /// or the destination exists.
    func copy(
        _ row: ManifestEntry,
        to key: ObjectKey,
        modified: Timestamp?
    ) async throws -> (etag: ETag, lastModified: Timestamp?)? {
        do {
            if row.size <= context.store.dialect.maximumCopySize {
                try await copyWhole(row, to: key, modified: modified)
            } else {
                guard try await copyParts(row, to: key, modified: modified) else { return nil }
            }
        } catch let error as StorageError {
            guard error.isPreconditionFailed || error.isNotFound || error.isAlreadyExists else {
                throw error
            }
            return nil
        }
        // The copy's own headers are the record: not every answer to a copy has a checksum.
        let metadata = try await context.store.head(context.objectKey(key), versionID: nil)
        guard metadata.size == row.size, let etag = metadata.etag,
            metadata.crc64 == nil || row.crc64 == nil || metadata.crc64 == row.crc64
        else { return nil }
        return (etag, metadata.lastModified)
    }

    /// What replaces the source's metadata, where its mtime is not the file's.
    private func metadata(
        _ row: ManifestEntry,
        _ modified: Timestamp?
    ) -> [(name: String, value: String)]? {
        guard let modified else { return nil }
        var metadata = [
            (name: ModificationTime.metadataName, value: ModificationTime.text(modified))
        ]
        if !context.store.dialect.computesChecksum, let checksum = row.crc64 {
            let name = StorageDialect.checksumMetadataName
            metadata.append((name: name, value: String(checksum.value)))
        }
        return metadata
    }

    private func copyWhole(
        _ row: ManifestEntry,
        to key: ObjectKey,
        modified: Timestamp?
    ) async throws {
        let request = CopyRequest(
            source: context.objectKey(row.key),
            sourceETag: row.etag,
            destination: context.objectKey(key),
            userMetadata: metadata(row, modified),
            contentType: modified == nil ? nil : ContentType.guess(for: key),
            forbidsOverwrite: true
        )
        try await context.limiter.acquire(bytes: 0)
        defer { context.limiter.release(bytes: 0) }
        _ = try await context.store.copy(request)
    }

    private func copyParts(
        _ row: ManifestEntry,
        to key: ObjectKey,
        modified: Timestamp?
    ) async throws -> Bool {
        let layout = PartLayout(objectSize: row.size, preferredPartSize: Self.preferredPartSize)
        guard let layout else { return false }
        let (source, destination) = (context.objectKey(row.key), context.objectKey(key))
        let time = modified ?? row.localModified
        let upload = try await context.store.initiateMultipartUpload(
            PutRequest(
                key: destination,
                contentType: ContentType.guess(for: key),
                userMetadata: metadata(row, time) ?? [],
                forbidsOverwrite: true
            )
        )
        do {
            var parts: [UploadedPart] = []
            for index in 0..<layout.partCount {
                try await context.limiter.acquire(bytes: 0)
                defer { context.limiter.release(bytes: 0) }
                parts.append(
                    try await context.store.uploadPartCopy(
                        PartCopyRequest(
                            source: source,
                            sourceETag: row.etag,
                            sourceRange: layout.range(ofPartAt: index),
                            destination: destination,
                            upload: upload,
                            number: PartNumber(index: index)
                        )
                    )
                )
            }
            _ = try await context.store.completeMultipartUpload(
                CompleteRequest(
                    key: destination,
                    upload: upload,
                    parts: parts,
                    forbidsOverwrite: true
                )
            )
        } catch {
            // Nothing else knows this upload; if it cannot be dropped now, the bucket's lifecycle
            // or `uploads --abort` does.
            try? await context.store.abortMultipartUpload(destination, upload)
            throw error
        }
        return true
    }
}
