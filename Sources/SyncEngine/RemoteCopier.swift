internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// Copies within the bucket, so that a renamed file moves no bytes.
struct RemoteCopier: Sendable {
    private static let preferredPartSize: Int64 = 256 << 20

    let context: TransferContext
    /// The largest object in bytes that is copied by one request.
    let largestWholeCopy: Int64

    /// Copies the object that `row` records, if it is still that version.
    ///
    /// With `modified` the copy's metadata notes that mtime; nil keeps the source's. `source` is
    /// the file that the copy stands for. The result is what the copy is, confirmed by its headers;
    /// nil if the source is gone or another version, or the destination is another's.
    func copy(
        _ row: ManifestEntry,
        of source: FileIdentity,
        to key: ObjectKey,
        modified: Timestamp?
    ) async throws -> (etag: ETag, lastModified: Timestamp?)? {
        var isAnswered = true
        do {
            if row.size <= largestWholeCopy {
                try await copyWhole(row, to: key, modified: modified)
            } else {
                guard try await copyParts(row, of: source, to: key, modified: modified) else {
                    return nil
                }
            }
        } catch let error as StorageError {
            if error.isPreconditionFailed || error.isNotFound { return nil }
            // An answer that was lost, or the repeated request that then met its own copy.
            guard error.isAlreadyExists || error.mayHaveReachedServer, !error.isCancelled else {
                throw error
            }
            isAnswered = false
        }
        // The copy's own headers are the record: not every answer to a copy has a checksum.
        let metadata = try await context.withConnection { () throws(StorageError) in
            try await context.store.head(context.objectKey(key), versionID: nil)
        }
        guard metadata.size == row.size, let etag = metadata.etag else { return nil }
        if let recorded = row.crc64, let found = metadata.crc64 {
            guard found == recorded else { return nil }
        } else {
            guard isAnswered else { return nil }
        }
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
        of file: FileIdentity,
        to key: ObjectKey,
        modified: Timestamp?
    ) async throws -> Bool {
        let layout = PartLayout(objectSize: row.size, preferredPartSize: Self.preferredPartSize)
        guard let layout else { return false }
        let (source, destination) = (context.objectKey(row.key), context.objectKey(key))
        let time = modified ?? row.localModified
        // The row by which a run that was killed here leaves no upload behind.
        let checkpoint = UploadCheckpoint(
            key: key,
            uploadID: nil,
            partSize: layout.partSize,
            source: file,
            token: context.environment.randomName(Uploader.tokenLength),
            started: context.environment.now(),
            parts: []
        )
        let upload = try await UploadCleaner(means: context.means).initiate(
            PutRequest(
                key: destination,
                contentType: ContentType.guess(for: key),
                userMetadata: metadata(row, time) ?? [],
                forbidsOverwrite: true
            ),
            checkpoint
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
            // What cannot be aborted now, the row leads the next run to.
            if (try? await context.store.abortMultipartUpload(destination, upload)) != nil {
                try await context.manifest.dropUpload(key)
            }
            throw error
        }
        try await context.manifest.dropUpload(key)
        return true
    }
}
