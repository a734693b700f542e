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
            part = try await context.store.uploadPart(
                context.objectKey(key),
                upload,
                number,
                body: sealed.map { .sealed($0) }
                    ?? .file(FileRegion(descriptor: file.descriptor, range: range)),
                onProgress: SealedUpload.counting(transfer, sealed)
            )
        } catch {
            if error.isNoSuchUpload { return .failed(.noSuchUpload(error.answer)) }
            // The part's checksum was computed before it was sent.
            if error.isWrongChecksum, !Self.isKept(file, source) {
                return .failed(.sourceChanged)
            }
            let failure = ItemFailure(error)
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
}

// MARK: - Parts of an earlier run

extension Uploader {
    func listParts(
        _ upload: UploadID,
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ attempt: Attempt
    ) async -> [UploadState.Effect] {
        let (store, objectKey) = (context.store, context.objectKey(key))
        var known: [UploadedPart] = []
        var marker: PartNumber?
        repeat {
            let after = marker
            do {
                let page = try await store.listParts(objectKey, upload, after: after)
                for part in page.parts {
                    switch await agreement(part, layout, attempt) {
                    case .same(let part): known.append(part)
                    case .unknown: break
                    case .different:
                        // It must not be encrypted under the nonce of what was sent.
                        if attempt.sealing != nil { return state.failed(.partsRefused(nil)) }
                    }
                }
                if let next = page.next, let after, next <= after { break }
                marker = page.next
            } catch {
                return state.failed(failure(error, settlesAlreadyExists: false))
            }
        } while marker != nil
        // Later listings are of parts that this run has sent.
        if transfer.bytesMoved == 0 {
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
