internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

extension Uploader {
    func send(
        _ upload: UploadID,
        _ number: PartNumber,
        _ range: ByteRange,
        of file: OpenFile,
        _ source: FileIdentity
    ) async -> PartEnd {
        do {
            try await means.limiter.acquire(bytes: range.length)
        } catch {
            return .failed(.other(.cancelled))
        }
        defer { means.limiter.release(bytes: range.length) }
        guard (try? file.identity()) == source else { return .failed(.sourceChanged) }
        let transfer = transfer
        let part: UploadedPart
        do {
            part = try await means.store.uploadPart(
                means.objectKey(key),
                upload,
                number,
                body: .file(FileRegion(descriptor: file.descriptor, range: range)),
                onProgress: { transfer.add($0) }
            )
        } catch {
            if error.isNoSuchUpload { return .failed(.noSuchUpload) }
            let failure = ItemFailure(error)
            return .failed(failure == .sourceKeepsChanging ? .sourceChanged : .other(failure))
        }
        guard (try? file.identity()) == source, let checksum = part.crc64 else {
            return .failed(.sourceChanged)
        }
        do {
            try await means.records.savePart(
                key,
                UploadPartCheckpoint(
                    number: number,
                    size: range.length,
                    etag: part.etag,
                    crc64: checksum
                ),
                uploadID: upload
            )
        } catch {
            return .failed(.other(error))
        }
        return .sent(
            UploadState.SentPart(
                number: number,
                size: range.length,
                etag: part.etag,
                checksum: checksum
            )
        )
    }
}

// MARK: - Parts of an earlier run

extension Uploader {
    func listParts(
        _ upload: UploadID,
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ shell: Shell
    ) async -> [UploadState.Effect] {
        let (store, objectKey) = (means.store, means.objectKey(key))
        var known: [UploadState.SentPart] = []
        var marker: PartNumber?
        repeat {
            let after = marker
            do {
                let page = try await store.listParts(objectKey, upload, after: after)
                for part in page.parts {
                    guard let part = await agreed(part, layout, shell) else { continue }
                    known.append(part)
                }
                if let next = page.next, let after, next <= after { break }
                marker = page.next
            } catch {
                return state.failed(failure(error, settlesAlreadyExists: false))
            }
        } while marker != nil
        // Later listings are of parts that this run has sent.
        if transfer.bytesMoved == 0 {
            let resumed = known.reduce(0) { $0 + $1.size }
            transfer.setResumed(resumed)
            means.item(.upload, .resumed, key, size: shell.source.size, resumed: resumed)
        }
        return state.listed(known)
    }

    /// A listed part, if it holds the bytes of the file as it is now.
    private func agreed(
        _ part: UploadedPart,
        _ layout: PartLayout,
        _ shell: Shell
    ) async -> UploadState.SentPart? {
        guard part.number.index < layout.partCount else { return nil }
        let range = layout.range(ofPartAt: part.number.index)
        guard part.size == range.length else { return nil }
        let recorded = shell.recorded[part.number]
        if !shell.doubtsRecordedParts, let recorded, recorded.etag == part.etag,
            let checksum = recorded.crc64, part.crc64 == nil || part.crc64 == checksum
        {
            return UploadState.SentPart(
                number: part.number,
                size: part.size,
                etag: part.etag,
                checksum: checksum
            )
        }
        // Another tag than the part had when it was sent: whose part it is, nobody knows.
        if let recorded, recorded.etag != part.etag { return nil }
        // Sent before the row was written, or of a file that was touched since: the file itself
        // says whether it is the same. Not every listing has checksums.
        guard let theirs = part.crc64 ?? recorded?.crc64 else { return nil }
        let (directory, file) = (means.directory, shell.file)
        let ours = try? await means.reading { interruption in
            try directory.checksum(of: file, range: range, unless: interruption)
        }
        guard ours == theirs else { return nil }
        return UploadState.SentPart(
            number: part.number,
            size: part.size,
            etag: part.etag,
            checksum: theirs
        )
    }
}
