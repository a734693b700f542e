internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// Compares the content of a file with that of an object; changes nothing.
struct ContentComparison: ItemWorker {
    let parts: ItemParts

    /// Up to this size an MD5 of the file is cheaper than asking the service for its CRC-64.
    private static let largestDigest: Int64 = 8 << 20

    /// What a comparison found.
    struct Answer: Sendable {
        let verdict: DigestResult
        /// Of the file, where it was read.
        var checksum: CRC64?
        /// Of the object, where it was asked for.
        var metadata: ObjectMetadata?
        /// True if the disk does not give what the file holds.
        var isUnreadable = false

        var isSame: Bool { verdict == .proven }

        init(_ verdict: DigestResult, checksum: CRC64? = nil, metadata: ObjectMetadata? = nil) {
            self.verdict = verdict
            self.checksum = checksum
            self.metadata = metadata
        }

        /// Compared by checksums of whole contents.
        init(isSame: Bool, checksum: CRC64?, metadata: ObjectMetadata? = nil) {
            let verdict: DigestResult = isSame ? .proven : .contentMismatch(isSure: true)
            self.init(verdict, checksum: checksum, metadata: metadata)
        }
    }

    /// Compares content; changes nothing.
    func answer(_ entry: JoinedEntry, _ comparison: Comparison) async throws -> Answer {
        do {
            return try await found(entry, comparison)
        } catch  where ItemFailure.isOfDamagedSource(error) {
            ledger.noteReadFailure(of: entry.base)
            var answer = Answer(.unknown)
            answer.isUnreadable = true
            return answer
        }
    }

    /// What follows from an answer: a file whose content is lost is replaced only where another
    /// one would be.
    func decision(
        _ answer: Answer,
        _ entry: JoinedEntry,
        same: Decision,
        different: Decision
    ) -> Decision {
        guard answer.isUnreadable else { return answer.isSame ? same : different }
        switch different {
        // The next one comes to the same.
        case .compare: return different
        default: return different.createsLocal ? different : .skip(entry.unreadable)
        }
    }

    private func found(_ entry: JoinedEntry, _ comparison: Comparison) async throws -> Answer {
        switch comparison {
        case .fileWithRow(let recorded):
            let checksum = try await fileChecksum(entry)
            return Answer(isSame: checksum == recorded, checksum: checksum)
        case .objectWithRow(let recorded):
            let metadata = try await head(entry.key, knownSize: entry.remote?.size ?? 0)
            guard let listed = entry.remote?.etag, metadata.etag == listed else {
                return Answer(.contentMismatch(isSure: true), metadata: metadata)
            }
            if context.store.dialect.computesChecksum, let found = metadata.crc64 {
                return Answer(isSame: found == recorded, checksum: recorded, metadata: metadata)
            }
            // What its writer says does not prove it. Where that differs, so does the object.
            if let claimed = metadata.crc64, claimed != recorded {
                return Answer(.contentMismatch(isSure: false), metadata: metadata)
            }
            guard let file = entry.local?.identity, file.size == metadata.size else {
                return Answer(.contentMismatch(isSure: true), metadata: metadata)
            }
            return try await prove(entry, file, metadata)
        case .fileWithObject(let etag):
            return try await compareFile(entry, etag)
        }
    }

    private func fileChecksum(_ entry: JoinedEntry) async throws -> CRC64 {
        guard let file = entry.local?.identity else { throw ItemFailure.sourceKeepsChanging }
        return try await checksum(of: try context.path(of: entry), expected: file)
    }

    /// The file's MD5 against the ETag where that is cheap and possible, else CRC-64 against
    /// CRC-64; an object without either is different.
    private func compareFile(
        _ entry: JoinedEntry,
        _ etag: ETag
    ) async throws -> Answer {
        guard let file = entry.local?.identity else { throw ItemFailure.sourceKeepsChanging }
        let path = try context.path(of: entry)
        let directory = context.directory
        if let digest = etag.md5Digest, file.size <= Self.largestDigest,
            context.store.cipher == nil
        {
            let (found, checksum) = try await context.hashing.run {
                let open = try Self.openForReading(path, in: directory)
                guard try open.identity() == file else { throw ItemFailure.sourceKeepsChanging }
                let bytes = try open.read(at: 0, length: Int(file.size))
                return (hexadecimalText(Digest.md5(bytes)), CRC64(of: bytes))
            }
            // Equal MD5s prove it; unequal ones prove nothing, because the ETag may not be an MD5
            // of the content.
            if found == digest { return Answer(isSame: true, checksum: checksum) }
        }
        let metadata = try await head(entry.key, knownSize: entry.remote?.size ?? 0)
        guard metadata.etag == etag, metadata.size == file.size else {
            return Answer(.contentMismatch(isSure: true), metadata: metadata)
        }
        guard context.store.dialect.computesChecksum, let expected = metadata.crc64 else {
            return try await prove(entry, file, metadata)
        }
        let checksum = try await checksum(of: path, expected: file)
        return Answer(isSame: checksum == expected, checksum: checksum, metadata: metadata)
    }

    /// Compares the file with what a store without its own CRC-64 reports of the object, and with
    /// what an earlier run downloaded of it.
    private func prove(
        _ entry: JoinedEntry,
        _ file: FileIdentity,
        _ metadata: ObjectMetadata
    ) async throws -> Answer {
        let directory = context.directory
        let path = try context.path(of: entry)
        let checksum = try await checksum(of: path, expected: file)
        let open = try await context.disk.run { try Self.openForReading(path, in: directory) }
        let metadata = await context.transfer.withPartSize(metadata, of: entry.key)
        let verdict =
            metadata.sealed == nil
            ? try await context.transfer.compare(open, checksum: checksum, with: metadata)
            : try await context.transfer.compareSealed(open, with: metadata, of: entry.key)
        guard try open.identity() == file else { throw ItemFailure.sourceKeepsChanging }
        if verdict != .proven, verdict != .contentMismatch(isSure: true),
            let known = try await context.manifest.first(.fetchedContent(entry.key)),
            known.etag == metadata.etag, known.size == metadata.size
        {
            let isSame = known.crc64 == checksum
            // As long as they differ, each run has to know.
            if !isSame { ledger.keepFetchedContents() }
            return Answer(isSame: isSame, checksum: checksum, metadata: metadata)
        }
        return Answer(verdict, checksum: checksum, metadata: metadata)
    }

    /// True if the copied file has the content of the new key's object.
    ///
    /// Only what the service reports of that object decides. An ETag equal to that of the file's
    /// own object proves nothing: an ETag need not be a digest, and then two objects may share it.
    func isCopy(
        _ copy: OpenFile,
        _ checksum: CRC64,
        of metadata: ObjectMetadata
    ) async throws -> Bool {
        if context.store.dialect.computesChecksum, let expected = metadata.crc64 {
            return checksum == expected
        }
        return try await context.transfer.hasContent(copy, checksum: checksum, of: metadata)
    }

    /// True if only the object's content can decide, and a conflict depends on it.
    ///
    /// A value that differs may not be a digest. That is checked only if the object is downloaded
    /// anyway.
    ///
    /// Never where nothing can be written: what is not known to be equal is a conflict there.
    func needsContent(_ answer: Answer, _ different: Decision, of entry: JoinedEntry) -> Bool {
        guard case .conflict(_, let resolution) = different, entry.remote?.needsRestore == false,
            !answer.isUnreadable,
            context.session.known.writingRefusal == nil
        else { return false }
        switch answer.verdict {
        case .proven: return false
        // Nothing damaged is replaced unread.
        case .contentMismatch(isSure: true):
            return resolution == .upload && answer.metadata?.sealed != nil
        case .unknown: return true
        case .contentMismatch(isSure: false):
            return resolution == .download || resolution == .downloadKeepingLocal
        }
    }
}
