internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

extension Uploader {
    func perform(
        _ effect: UploadState.Effect,
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ shell: inout Shell
    ) async -> [UploadState.Effect] {
        switch effect {
        case .put: return await put(&state, &shell)
        case .initiate: return await initiate(&state, layout, &shell)
        case .listParts(let upload): return await listParts(upload, &state, layout, shell)
        case .complete(let upload, let parts):
            return await complete(upload, parts, &state, &shell)
        case .settle(let expected): return await settle(expected, &state, &shell)
        case .abort(let upload):
            do {
                try await abort(upload)
            } catch {
                // The row stays, by which the next run finds what this one could not abort.
                shell.hasCheckpoint = false
            }
        case .dropCheckpoint:
            shell.recorded = [:]
            guard shell.hasCheckpoint else { return [] }
            shell.hasCheckpoint = false
            // A row that stays is judged again by the next run.
            try? await means.records.dropUpload(key)
        case .finish(let checksum): finish(checksum, &shell)
        case .fail(let failure, _): shell.result = .failure(failure)
        case .upload, .cancelParts: break
        }
        return []
    }

    /// Notes what the answer to the request that made the object says.
    private func take(_ result: PutResult, _ shell: inout Shell) {
        shell.confirmed = (result.etag, nil)
        shell.versionID = result.versionID
        if let failure = result.callbackFailure {
            shell.callback = .failed(failure)
        } else if let answer = result.callbackBody {
            shell.callback = .answered(answer)
        }
    }

    /// What begins the object; a callback goes with the request that completes it.
    private func request(_ shell: Shell, callback: UploadCallback?) -> PutRequest {
        var metadata = details.userMetadata
        let timeName = ModificationTime.metadataName
        if details.keepsModificationTime,
            !metadata.contains(where: { $0.name.lowercased() == timeName })
        {
            let time = ModificationTime.text(shell.source.modified)
            metadata.append((name: timeName, value: time))
        }
        metadata.append((name: Self.tokenMetadataName, value: shell.token))
        if let announced = shell.announced {
            let name = StorageDialect.checksumMetadataName
            metadata.append((name: name, value: String(announced.value)))
        }
        var request = PutRequest(
            key: means.objectKey(key),
            contentType: details.contentType ?? ContentType.guess(for: key),
            userMetadata: metadata,
            storageClass: details.storageClass,
            forbidsOverwrite: isNew,
            replaced: replaced,
            callback: callback
        )
        request.isUnseen = details.isUnseen
        request.keepsMetadata = true
        return request
    }

    /// Reads the file for what its object's metadata must say before the first byte is sent.
    private func announce(_ shell: inout Shell) async throws(ItemFailure) {
        guard !means.store.dialect.computesChecksum else { return }
        let (directory, file) = (means.directory, shell.file)
        let range = ByteRange(offset: 0, length: shell.source.size)
        do {
            shell.announced = try await means.reading { interruption in
                try directory.checksum(of: file, range: range, unless: interruption)
            }
        } catch {
            throw ItemFailure(any: error)
        }
        guard (try? file.identity()) == shell.source else { throw .sourceKeepsChanging }
    }

    private func put(
        _ state: inout UploadState,
        _ shell: inout Shell
    ) async -> [UploadState.Effect] {
        means.item(.upload, .started, key, size: shell.source.size)
        do throws(ItemFailure) {
            try await announce(&shell)
        } catch {
            return state.failed(error == .sourceKeepsChanging ? .sourceChanged : .other(error))
        }
        let range = ByteRange(offset: 0, length: shell.source.size)
        let (store, transfer) = (means.store, transfer)
        let request = request(shell, callback: details.callback)
        let (file, source) = (shell.file, shell.source)
        let body = RequestBody.file(
            FileRegion(
                descriptor: file.descriptor,
                range: range,
                isUnchanged: { (try? file.identity()) == source }
            )
        )
        do {
            try await means.limiter.acquire(bytes: range.length)
        } catch {
            return state.failed(.other(.cancelled))
        }
        defer { means.limiter.release(bytes: range.length) }
        do throws(StorageError) {
            let result = try await store.put(
                request,
                body: range.isEmpty ? .bytes([]) : body,
                onProgress: { transfer.add($0) }
            )
            take(result, &shell)
            if let announced = shell.announced, let sent = result.sentChecksum, sent != announced {
                return state.failed(.sourceChanged)
            }
            return state.finishedPut(checksum: result.crc64 ?? result.sentChecksum)
        } catch {
            return state.failed(failure(error, settlesAlreadyExists: true))
        }
    }

    private func initiate(
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ shell: inout Shell
    ) async -> [UploadState.Effect] {
        if shell.hasBegun { means.onStartOver(.uploadVanished) }
        shell.hasBegun = true
        transfer.startOver()
        means.item(.upload, .started, key, size: shell.source.size)
        do {
            try await announce(&shell)
            let checkpoint = UploadCheckpoint(
                key: key,
                uploadID: nil,
                partSize: layout.partSize,
                source: shell.source,
                token: shell.token,
                started: means.environment.now(),
                parts: []
            )
            shell.hasCheckpoint = true
            let cleaner = UploadCleaner(means: means)
            return state.initiated(
                try await cleaner.initiate(request(shell, callback: nil), checkpoint)
            )
        } catch {
            let failure = ItemFailure(any: error)
            let hasChanged = failure == .sourceKeepsChanging
            return state.failed(hasChanged ? .sourceChanged : .other(failure))
        }
    }

    private func complete(
        _ upload: UploadID,
        _ parts: [UploadState.SentPart],
        _ state: inout UploadState,
        _ shell: inout Shell
    ) async -> [UploadState.Effect] {
        guard (try? shell.file.identity()) == shell.source,
            shell.announced == nil || shell.announced == state.wholeChecksum
        else { return state.failed(.sourceChanged) }
        var request = CompleteRequest(
            key: means.objectKey(key),
            upload: upload,
            parts: parts.map { part in
                UploadedPart(
                    number: part.number,
                    size: part.size,
                    etag: part.etag,
                    crc64: part.checksum
                )
            },
            forbidsOverwrite: isNew,
            replaced: replaced,
            callback: details.callback
        )
        request.isUnseen = details.isUnseen
        do {
            let result = try await means.store.completeMultipartUpload(request)
            take(result, &shell)
            guard isProven(result.etag, parts, shell) else {
                return state.failed(.answerLost(.uploadVanished))
            }
            return state.completed(checksum: result.crc64)
        } catch {
            if error.serviceCode == "InvalidPart" || error.serviceCode == "InvalidPartOrder" {
                return state.failed(.partsRefused)
            }
            return state.failed(failure(error, settlesAlreadyExists: true))
        }
    }

    /// True if the answer itself shows that the object is what was sent.
    ///
    /// A service that computes the CRC-64 tells it. Of any other the tag must be the one that the
    /// parts make, and the CRC-64 in the metadata the one of the file; where that is not known, the
    /// object is asked for.
    private func isProven(
        _ etag: ETag,
        _ parts: [UploadState.SentPart],
        _ shell: Shell
    ) -> Bool {
        guard !means.store.dialect.computesChecksum else { return true }
        guard shell.announced != nil else { return false }
        return ETag(wire: etag.text.lowercased()) == MultipartTag.tag(ofParts: parts.map(\.etag))
    }

    /// Asks for the object and compares what only the upload that made it can have.
    private func settle(
        _ expected: CRC64?,
        _ state: inout UploadState,
        _ shell: inout Shell
    ) async -> [UploadState.Effect] {
        do {
            let metadata = try await means.store.head(means.objectKey(key), versionID: nil)
            var isOurs =
                metadata.userMetadata[Self.tokenMetadataName] == shell.token
                && metadata.size == shell.source.size
            if isOurs, let found = metadata.crc64, means.store.dialect.computesChecksum {
                var sent = expected
                if sent == nil { sent = try await fileChecksum(shell) }
                isOurs = found == sent
            }
            if isOurs, let etag = metadata.etag {
                shell.confirmed = (etag, metadata.lastModified)
                shell.versionID = metadata.versionID
                // An answer that came already, and was not proof enough, told it.
                if details.callback != nil, shell.callback == nil { shell.callback = .unknown }
                return state.settled(isOurs: true, checksum: metadata.crc64 ?? expected)
            }
            return state.settled(isOurs: false, checksum: nil)
        } catch let error as StorageError where error.isNotFound {
            return state.settled(isOurs: false, checksum: nil)
        } catch {
            return state.failed(.other(ItemFailure(any: error)))
        }
    }

    /// Of the whole file, which is still the one that was sent.
    private func fileChecksum(_ shell: Shell) async throws -> CRC64 {
        let (directory, file) = (means.directory, shell.file)
        let range = ByteRange(offset: 0, length: shell.source.size)
        return try await means.reading { interruption in
            try directory.checksum(of: file, range: range, unless: interruption)
        }
    }

    private func finish(_ checksum: CRC64?, _ shell: inout Shell) {
        guard let confirmed = shell.confirmed else {
            shell.result = .failure(.uploadVanished)
            return
        }
        shell.result = .success(
            FinishedUpload(
                etag: confirmed.etag,
                checksum: checksum,
                lastModified: confirmed.lastModified,
                source: shell.source,
                hasCheckpoint: shell.hasCheckpoint,
                versionID: shell.versionID,
                callback: shell.callback
            )
        )
    }

    func failure(
        _ error: StorageError,
        settlesAlreadyExists: Bool
    ) -> UploadState.Failure {
        if error.isNoSuchUpload { return .noSuchUpload }
        if error.isNotFound {
            // S3 misses the version that was to be replaced; else the store can't hold such a key.
            if settlesAlreadyExists, replaced != nil { return .answerLost(.alreadyExists) }
            let message = error.message
            return .other(.storage(message: message, requestID: error.requestID, stops: nil))
        }
        let failure = ItemFailure(error)
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
