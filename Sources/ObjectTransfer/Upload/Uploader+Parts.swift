internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

extension Uploader {
    func send(
        _ upload: UploadID,
        _ number: PartNumber,
        _ range: ByteRange,
        of opened: Opened,
        _ sealing: SealedUpload?
    ) async -> PartEnd {
        let (file, source) = (opened.file, opened.source)
        guard Self.isKept(file, source) else { return .failed(.sourceChanged) }
        let transfer = transfer
        let sealed = sealing?.body(range)
        let part: UploadedPart
        do {
            if let copied = await copied(upload, number, range, of: file) {
                part = copied
            } else {
                part = try await context.store.uploadPart(
                    context.objectKey(key),
                    upload,
                    number,
                    body: sealed.map { .sealed($0) }
                        ?? .file(FileRegion(descriptor: file.descriptor, range: range)),
                    onProgress: SealedUpload.counting(transfer, sealed)
                )
            }
        } catch {
            if error.isNoSuchUpload { return .failed(.noSuchUpload(error.answer)) }
            // The part's checksum was computed before it was sent.
            if error.isWrongChecksum, !Self.isKept(file, source) {
                return .failed(.sourceChanged)
            }
            let failure = ItemFailure(ofSource: error)
            return .failed(failure == .sourceKeepsChanging ? .sourceChanged : .other(failure))
        }
        guard Self.isKept(file, source), part.crc64 != nil else {
            return .failed(.sourceChanged)
        }
        if let sealed { sealing?.add(sealed) }
        do {
            try await context.records.savePart(key, part, uploadID: upload)
        } catch {
            return .failed(.other(error))
        }
        return .sent(part)
    }

    func failure(
        _ error: StorageError,
        settlesAlreadyExists: Bool
    ) -> UploadState.Failure {
        if error.isNoSuchUpload { return .noSuchUpload(error.answer) }
        if error.isNotFound {
            // S3 misses the version that was to be replaced; else the store can't hold such a key.
            if settlesAlreadyExists, details.replaced != nil {
                return .answerLost(.alreadyExists(error.answer))
            }
            return .other(.storage(message: error.message, answer: error.answer))
        }
        let failure = ItemFailure(ofSource: error)
        if failure == .sourceKeepsChanging { return .sourceChanged }
        // A repeated request may meet the object that its own lost first attempt made.
        if error.isAlreadyExists, settlesAlreadyExists { return .answerLost(failure) }
        // What was asked first was not answered: nothing was sent.
        if error.operation == "HeadObject" { return .other(failure) }
        // The content that arrived is not the file's: no look can make it right.
        if case .integrity = error.kind { return .other(failure) }
        // Also an error of the server's own, which may have come after it had done its work.
        let isLost = error.mayHaveReachedServer && !error.isCancelled
        return isLost ? .answerLost(failure) : .other(failure)
    }
}

// MARK: - Parts of an earlier run

extension Uploader {
    func listParts(
        _ upload: UploadID,
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ attempt: Attempt
    ) async -> [UploadState.Effect] {
        var known: [UploadedPart] = []
        var isDifferent = false
        do {
            try await context.store.forEachPart(of: upload, context.objectKey(key)) { part in
                switch await agreement(part, layout, attempt) {
                case .same(let part): known.append(part)
                case .unknown: break
                // It must not be encrypted under the nonce of what was sent.
                case .different: isDifferent = attempt.sealing != nil
                }
                return !isDifferent
            }
        } catch {
            return state.failed(failure(error, settlesAlreadyExists: false))
        }
        if isDifferent { return state.failed(.partsRefused(nil)) }
        // Later listings are of parts that this run has sent.
        if transfer.bytesMoved == 0, transfer.bytesCopied == 0 {
            var resumed = known.reduce(0) { $0 + $1.size }
            if attempt.sealing != nil { resumed = SealedFormat.plainLength(inFirst: resumed) }
            transfer.setResumed(resumed)
            context.observer.began(transfer, true)
        }
        return state.listed(known)
    }

    /// Whether a listed part holds the bytes of the file as it is now.
    private enum Agreement {
        /// With its checksum.
        case same(UploadedPart)
        case different
        case unknown
    }

    private func agreement(
        _ listed: UploadedPart,
        _ layout: PartLayout,
        _ attempt: Attempt
    ) async -> Agreement {
        var part = listed
        guard part.number.index < layout.partCount else { return .unknown }
        let range = layout.range(ofPartAt: part.number.index)
        guard part.size == range.length else { return .unknown }
        let recorded = attempt.recorded[part.number]
        // The checksum of the file's own content is in no record of an encrypted part.
        if !attempt.doubtsRecordedParts, attempt.sealing == nil, let recorded,
            recorded.etag == part.etag,
            let checksum = recorded.crc64, part.crc64 == nil || part.crc64 == checksum
        {
            part.crc64 = checksum
            return .same(part)
        }
        // Another tag than the part had when it was sent: whose part it is, nobody knows.
        if let recorded, recorded.etag != part.etag { return .unknown }
        // Sent before the row was written, or of a file that was touched since: the file itself
        // says whether it is the same. Not every listing has checksums.
        guard let theirs = part.crc64 ?? recorded?.crc64 else { return .unknown }
        let file = attempt.opened.file
        let sealing = attempt.sealing
        let ours = try? await context.reading { interruption in
            try sealing?.checksum(of: range)
                ?? file.checksum(of: range, unless: interruption)
        }
        guard let ours else { return .unknown }
        guard ours == theirs else { return .different }
        part.crc64 = theirs
        return .same(part)
    }
}

// MARK: - Parts of the version that is replaced

extension Uploader {
    /// The part as the store copied it; nil if it has to be sent.
    func copied(
        _ upload: UploadID,
        _ number: PartNumber,
        _ range: ByteRange,
        of file: OpenFile
    ) async -> UploadedPart? {
        guard let copies = details.copies, copies.areMade,
            let known = copies.source.content(of: range),
            let content = try? await self.content(of: range, in: file), content == known
        else { return nil }
        let object = context.objectKey(key)
        var request = PartCopyRequest(
            source: object,
            sourceETag: copies.source.etag,
            sourceRange: range,
            destination: object,
            upload: upload,
            number: number
        )
        request.isOptional = true
        var reason = "it makes something else of them"
        var isRefusal = true
        do {
            var part = try await context.store.uploadPartCopy(request)
            if part.etag.md5Bytes == known.md5, part.crc64 == nil || part.crc64 == known.crc64 {
                part.crc64 = known.crc64
                copies.countMade(number)
                transfer.addCopied(range.length)
                return part
            }
        } catch {
            // What concerns the part however it is made, as an upload that is gone, shows when it
            // is sent.
            if error.isCancelled || error.isOutage || error.isNoSuchUpload { return nil }
            reason = error.message
            // Nothing else says what the store does with the next ones.
            isRefusal = error.isRefusedAsMade || [405, 501].contains(error.status)
        }
        if copies.countFailure(isRefusal: isRefusal) {
            context.observer.warned(
                "the store does not copy parts of '\(key.display)', so all of them are sent: "
                    + reason
            )
        }
        return nil
    }

    private func content(
        of range: ByteRange,
        in file: OpenFile
    ) async throws -> SentParts.Content {
        // Whole files are read on the other queue: an upload that is open would wait for them.
        try await context.reading(on: context.disk) { interruption in
            try SentParts.Content(of: file, range, unless: interruption)
        }
    }

    /// Of the parts, those that the store has without a doubt: what was copied must have the right
    /// CRC-64 in its list.
    func proven(_ upload: UploadID, _ parts: [UploadedPart]) async -> [UploadedPart] {
        guard context.store.dialect.computesChecksum,
            let copied = details.copies?.takeMade(), !copied.isEmpty
        else { return parts }
        var listed: [PartNumber: UploadedPart] = [:]
        // What the store does not tell is sent.
        try? await context.store.forEachPart(of: upload, context.objectKey(key)) { part in
            if copied.contains(part.number) { listed[part.number] = part }
            return true
        }
        return parts.filter { part in
            guard copied.contains(part.number) else { return true }
            let found = listed[part.number]
            return found?.etag == part.etag && found?.crc64 == part.crc64
        }
    }

    /// What the object's parts contain, if they are worth to be remembered and their tags are MD5s,
    /// as one of them shows.
    ///
    /// Those of an object that an earlier run made are in its record.
    func sentParts(
        _ etag: ETag,
        _ layout: PartLayout,
        _ attempt: Attempt,
        checksum: CRC64?
    ) async -> SentParts? {
        let recorded = attempt.recorded.values.sorted { $0.number < $1.number }
        let parts = attempt.completed.isEmpty ? recorded : attempt.completed
        guard attempt.sealing == nil, let checksum,
            let sent = SentParts(key: key, etag: etag, layout, parts, checksum: checksum)
        else { return nil }
        let last = layout.range(ofPartAt: layout.partCount - 1)
        let content = try? await content(of: last, in: attempt.opened.file)
        return content != nil && content == sent.content(of: last) ? sent : nil
    }
}

extension SentParts.Content {
    /// Of a range of a file, which is read once.
    init(of file: OpenFile, _ range: ByteRange, unless interruption: Interruption) throws {
        var md5 = PieceDigest(nil)
        var crc64 = CRC64()
        try file.read(range, unless: interruption) { bytes in
            md5.update(bytes)
            crc64.update(bytes)
        }
        self.init(md5: md5.finish(), crc64: crc64)
    }
}
