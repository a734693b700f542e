internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// Copies within the bucket, so that a renamed file moves no bytes.
struct RemoteCopier: Sendable {
    let context: RunContext

    /// Copies the object that `row` records, if it is still that version.
    ///
    /// `source` is the file that the copy stands for, and `mode` its permissions if they are others
    /// than those that the source stands for here. The copy notes them and the file's mtime, and
    /// keeps what other tools put on the object. The result is what the copy is, confirmed by its
    /// headers; nil if the source is gone or another version, or the destination is another's.
    func copy(
        _ row: ManifestEntry,
        of source: FileIdentity,
        mode: UInt32?,
        to key: ObjectKey
    ) async throws -> Copied? {
        var answered: ETag?
        let original = try await context.transfer.metadata(row.key, knownSize: row.size)
        guard original.etag == row.etag else { return nil }
        let copying = copying(row, original, Notes(file: source, mode: mode), to: key)
        do {
            answered = try await copying.make(at: context.objectKey(key)).etag
        } catch let error as StorageError {
            if error.isNotFound { return nil }
            guard error.mayHaveMadeObject else { throw error }
        }
        // The copy's own headers are the record: not every answer to a copy has a checksum.
        let metadata: ObjectMetadata
        do {
            metadata = try await context.transfer.metadata(key, knownSize: row.size)
        } catch {
            guard ItemFailure(any: error).isVanished else { throw error }
            return nil
        }
        guard metadata.size == row.size, let etag = metadata.etag else { return nil }
        // Another writer was there in between, and may have kept our metadata.
        if let answered {
            guard answered == etag else { return nil }
        } else {
            let stored = original.sealed.map(\.crc64) ?? row.crc64
            guard copying.isProven(by: metadata, stored) else { return nil }
        }
        if let recorded = row.crc64, let found = metadata.crc64, found != recorded { return nil }
        let hasTime = metadata.userMetadata[ModificationTime.metadataName] != nil
        return Copied(
            etag: etag,
            lastModified: metadata.lastModified,
            hasMetadata: hasTime || !context.options.keepsFileMetadata
        )
    }

    /// An object that was made from another one, or from itself.
    struct Copied: Sendable {
        let etag: ETag
        let lastModified: Timestamp?
        /// False if the store dropped what the metadata were to have.
        let hasMetadata: Bool
    }

    /// Writes an object anew, as a copy of itself, with the permissions `mode` and all else as it
    /// is.
    ///
    /// The result is what it is then, confirmed as by ``copy(_:of:to:)``; nil if it is another
    /// version than the one of `row`. An object that has the permissions already is not written.
    /// With `looks`, no answer is trusted to mean that the permissions are there.
    func rewrite(
        _ row: ManifestEntry,
        mode: UInt32,
        looks: Bool
    ) async throws -> Copied? {
        let original = try await context.transfer.metadata(row.key, knownSize: row.size)
        guard original.etag == row.etag, original.size == row.size else { return nil }
        if FileMode.of(original, row.modeKind) == mode {
            return Copied(etag: row.etag, lastModified: original.lastModified, hasMetadata: true)
        }
        var copied = try await rewrite(row, original, mode, looks: looks)
        if let copy = copied, copy.hasMetadata,
            copy.lastModified?.seconds == original.lastModified?.seconds
        {
            // By its time others see that there is something new.
            try await context.environment.sleep(.seconds(1))
            let again = row.replacing(etag: copy.etag)
            copied = try await rewrite(again, original, mode, looks: looks)
        }
        return copied
    }

    private func rewrite(
        _ row: ManifestEntry,
        _ original: ObjectMetadata,
        _ mode: UInt32,
        looks: Bool
    ) async throws -> Copied? {
        var answer: PutResult?
        var failure: StorageError?
        do {
            let copying = inPlace(row, original, mode)
            answer = try await copying.make(at: copying.source)
        } catch let error as StorageError {
            if error.isPreconditionFailed || error.isNotFound { return nil }
            guard error.mayHaveMadeObject else { throw error }
            failure = error
        }
        if !looks, let answer, answer.etag == row.etag, let time = answer.lastModified,
            answer.crc64 == nil || row.crc64 == nil || answer.crc64 == row.crc64
        {
            return Copied(etag: answer.etag, lastModified: time, hasMetadata: true)
        }
        let metadata = try await context.transfer.metadata(row.key, knownSize: row.size)
        guard metadata.size == row.size, let etag = metadata.etag,
            answer.map({ $0.etag == etag }) ?? (etag == row.etag)
        else { return nil }
        if let recorded = row.crc64, let found = metadata.crc64, found != recorded { return nil }
        let hasMode = FileMode.of(metadata, row.modeKind) == mode
        // A copy that was not made, as far as an answer that was lost can show.
        if !hasMode, let failure { throw failure }
        return Copied(etag: etag, lastModified: metadata.lastModified, hasMetadata: hasMode)
    }

    private func inPlace(
        _ row: ManifestEntry,
        _ original: ObjectMetadata,
        _ mode: UInt32
    ) -> BucketCopy {
        var copying = copying(of: row)
        copying.replaced = row.etag
        copying.metadata = .init(
            userMetadata: Self.metadata(original, row, mode),
            contentType: original.contentType
        )
        copying.kept = original
        copying.properties = properties.ofCopy
        return copying
    }

    private func copying(of row: ManifestEntry) -> BucketCopy {
        var copying = BucketCopy(
            context: context.transfer,
            source: context.objectKey(row.key),
            etag: row.etag,
            size: row.size
        )
        copying.needsProof = true
        if context.store.cipher == nil { copying.checksum = row.crc64 }
        return copying
    }

    /// Those of the object, of old content and all, with other permissions.
    ///
    /// What can stand in no header is left to what every copy keeps.
    private static func metadata(
        _ original: ObjectMetadata,
        _ row: ManifestEntry,
        _ mode: UInt32
    ) -> [(name: String, value: String)] {
        var metadata = original.userMetadata.filter { item in
            !item.value.isEmpty && item.value.utf8.allSatisfy { (0x20..<0x7F).contains($0) }
        }
        metadata[FileMode.metadataName] = FileMode.text(mode, row.modeKind)
        return metadata.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private var properties: ObjectProperties { context.options.properties }

    /// What a copy notes of the file that it stands for.
    private struct Notes {
        let file: FileIdentity
        /// Nil for those of the source.
        let mode: UInt32?

        /// True if the object's own metadata give a file made from it this one's mtime and
        /// permissions.
        func areThose(of original: ObjectMetadata) -> Bool {
            let time = original.userMetadata[ModificationTime.metadataName]
                .flatMap { ModificationTime.parse($0) }
            return time?.nanosecondsSince1970 == file.modified.nanosecondsSince1970
                && (mode == nil || FileMode.of(original) == mode)
        }
    }

    /// What osssync itself writes on the copy.
    private func metadata(
        _ row: ManifestEntry,
        _ original: ObjectMetadata,
        _ notes: Notes
    ) -> [(name: String, value: String)] {
        var metadata = properties.sortedMetadata
        if context.options.keepsFileMetadata {
            let time = ModificationTime.text(notes.file.modified)
            metadata.append((name: ModificationTime.metadataName, value: time))
            let mode =
                notes.mode.map { FileMode.text($0, .file) }
                ?? original.userMetadata[FileMode.metadataName]
            if let mode {
                metadata.append((name: FileMode.metadataName, value: mode))
            }
        }
        if context.store.cipher != nil {
            metadata.append((name: StorageDialect.encryptionMetadataName, value: "contents"))
        } else if !context.store.dialect.computesChecksum, let checksum = row.crc64 {
            let name = StorageDialect.checksumMetadataName
            metadata.append((name: name, value: String(checksum.value)))
        }
        return metadata
    }

    /// Metadata that other tools set on the source; a content type guessed from its name is left
    /// out.
    private func kept(_ original: ObjectMetadata, _ row: ManifestEntry) -> ObjectMetadata {
        var kept = original
        if kept.contentType == ContentType.guess(for: row.key) { kept.contentType = nil }
        return kept
    }

    private func copying(
        _ row: ManifestEntry,
        _ original: ObjectMetadata,
        _ notes: Notes,
        to key: ObjectKey
    ) -> BucketCopy {
        var copying = copying(of: row)
        copying.properties = properties
        copying.kept = kept(original, row)
        let isRight =
            context.options.keepsFileMetadata && notes.areThose(of: original)
            && properties == .none
        // The copy keeps its source's metadata where they are right already. One in parts would
        // have the token of another upload, too.
        if isRight, context.store.storedSize(of: row.size) <= context.store.dialect.maximumCopySize
        {
            return copying
        }
        copying.metadata = .init(
            userMetadata: metadata(row, original, notes),
            contentType: ContentType.guess(for: key)
        )
        return copying
    }
}

extension ManifestEntry {
    /// What the mode in the object's metadata is of.
    fileprivate var modeKind: FileMode.Kind {
        RelativePath.isDirectory(key) ? .directory : .file
    }
}
