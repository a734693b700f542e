internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What is known of the parts of objects, so that a store can copy them.
extension FileUploads {
    /// What the store may copy of the version that an upload replaces.
    enum Copies: Sendable {
        case parts(SentParts)
        /// Nothing; of a file that is too small for copies, nothing is said.
        case none(String?)

        var parts: SentParts? { if case .parts(let parts) = self { parts } else { nil } }
    }

    private static let unknownMessage =
        "nothing is recorded of the parts of this version, as of one that was not sent from here"

    /// Bytes that the store may copy from the version which an upload replaces, at most; or why
    /// all of a large file is sent.
    func copied(_ entry: JoinedEntry) async -> (bytes: Int64, reasonToSendAll: String?) {
        guard let file = entry.local?.identity, let object = entry.remote else { return (0, nil) }
        switch await copies(entry, of: file, replacing: object.etag) {
        case .parts(let parts): return (min(parts.size, file.size), nil)
        case .none(let reason):
            let least = Int64(SentParts.smallestCount) * context.transfer.partSize
            return (0, object.size >= least ? reason : nil)
        }
    }

    /// What is known of the version that the upload replaces, if its parts may be copied from it.
    func copies(
        _ entry: JoinedEntry,
        of file: FileIdentity,
        replacing etag: ETag?
    ) async -> Copies {
        guard let etag, file.size > context.transfer.partSize else { return .none(nil) }
        guard context.store.cipher == nil else {
            return .none("encrypted contents are encrypted anew by each upload")
        }
        var storageClass = entry.remote?.storageClass
        if storageClass == nil {
            // The run itself has just made the object.
            storageClass = try? await context.manifest.entry(entry.key)?.storageClass
        }
        guard storageClass?.isStandard == true else {
            let name = storageClass.map { displayText($0.name.utf8) } ?? ""
            return .none("copies from the storage class \(name) are charged by their bytes")
        }
        guard await !RefusedPartCopies.areKnown(to: context.manifest, context.environment.now())
        else { return .none("the store refused copies of parts in the last 30 days") }
        return await sentParts(of: entry.key, version: etag).map { .parts($0) }
            ?? .none(Self.unknownMessage)
    }

    /// What is recorded of the parts of that version.
    private func sentParts(of key: ObjectKey, version etag: ETag) async -> SentParts? {
        if let parts = try? await context.manifest.sentParts(of: key), parts.etag == etag {
            return parts
        }
        guard let upload = await finishedUpload(of: key) else { return nil }
        let metadata = try? await head(key)
        return metadata.flatMap { $0.etag == etag ? upload.parts(of: $0) : nil }
    }

    /// What is to be recorded of the parts of an object that an upload made whose run ended before
    /// it could record that.
    func unrecordedParts(_ metadata: ObjectMetadata?, _ key: ObjectKey) async -> [ManifestChange] {
        guard let metadata, metadata.size > context.transfer.partSize,
            let parts = await finishedUpload(of: key)?.parts(of: metadata)
        else { return [] }
        return [.keepParts(parts)]
    }

    /// The checkpoint of an upload of which the store had all parts.
    private func finishedUpload(of key: ObjectKey) async -> UploadCheckpoint? {
        guard let upload = try? await context.manifest.first(.upload(key)),
            upload.parts.count == upload.layout?.partCount
        else { return nil }
        return upload
    }

    /// What is known of the parts of a row's object, for the copy that was made of it.
    func sentParts(of row: ManifestEntry, as copy: ManifestEntry) async -> SentParts? {
        guard row.size > context.transfer.partSize, context.store.cipher == nil,
            let known = await sentParts(of: row.key, version: row.etag)
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

extension UploadCheckpoint {
    fileprivate var layout: PartLayout? {
        PartLayout(objectSize: source.size, recordedPartSize: partSize)
    }

    /// What the object contains, if it is the one that this upload made.
    fileprivate func parts(of object: ObjectMetadata) -> SentParts? {
        guard object.userMetadata[StorageDialect.tokenMetadataName] == token,
            object.size == source.size, let layout, let etag = object.etag,
            let checksum = object.crc64
        else { return nil }
        return SentParts(key: key, etag: etag, layout, parts, checksum: checksum)
    }
}
