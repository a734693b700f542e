internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

extension Uploader {
    func perform(
        _ effect: UploadState.Effect,
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ attempt: inout Attempt
    ) async -> [UploadState.Effect] {
        switch effect {
        case .put: return await put(&state, &attempt)
        case .initiate: return await initiate(&state, layout, &attempt)
        case .listParts(let upload): return await listParts(upload, &state, layout, attempt)
        case .complete(let upload, let parts):
            return await complete(upload, parts, &state, &attempt)
        case .confirmByHead(let expected):
            return await confirmByHead(expected, &state, layout, &attempt)
        case .abort(let upload):
            do {
                try await abort(upload)
            } catch {
                // The row stays, by which the next run finds what this one could not abort.
                attempt.hasCheckpoint = false
            }
        case .dropCheckpoint:
            attempt.recorded = [:]
            guard attempt.hasCheckpoint else { return [] }
            attempt.hasCheckpoint = false
            // A row that stays is judged again by the next run.
            try? await context.records.dropUpload(key)
        case .finish(let checksum): await finish(checksum, layout, &attempt)
        case .fail(let failure, _): attempt.result = .failure(failure)
        case .upload, .cancelParts: break
        }
        return []
    }

    /// Notes what the answer to the request that made the object says.
    private func record(_ result: PutResult, _ attempt: inout Attempt) {
        attempt.confirmed = (result.etag, result.lastModified)
        attempt.versionID = result.versionID
        if let callback = CallbackEnding(result) { attempt.callback = callback }
    }

    /// What begins the object.
    private func request(_ attempt: Attempt) -> PutRequest {
        var metadata: [(name: String, value: String)] = []
        metadata.reserveCapacity(3)
        if details.keepsFileMetadata {
            let modified = ModificationTime.text(attempt.opened.source.modified)
            metadata.append((ModificationTime.metadataName, modified))
            if let permissions = attempt.opened.sharedPermissions {
                metadata.append((FileMode.metadataName, FileMode.text(permissions)))
            }
        }
        if attempt.sealing != nil {
            metadata.append((StorageDialect.encryptionMetadataName, "contents"))
        }
        var request = details.beginning(
            of: context.objectKey(key),
            metadata,
            token: attempt.token,
            checksum: attempt.declaredChecksum
        )
        request.keepsMetadata = true
        request.source = details.source
        return request
    }

    /// Reads the file for what its object's metadata must say before the first byte is sent.
    private func declareChecksum(_ attempt: inout Attempt) async throws(ItemFailure) {
        // Of an encrypted content it would tell too much.
        guard !context.store.dialect.computesChecksum, attempt.sealing == nil else { return }
        if let content = attempt.opened.content {
            attempt.declaredChecksum = CRC64(of: content)
            return
        }
        let file = attempt.opened.file
        let range = ByteRange(offset: 0, length: attempt.opened.source.size)
        do {
            attempt.declaredChecksum = try await context.reading { interruption in
                try file.checksum(of: range, unless: interruption)
            }
        } catch {
            throw ItemFailure(ofSource: error)
        }
        guard Self.isKept(file, attempt.opened.source) else { throw .sourceKeepsChanging }
    }

    private func put(
        _ state: inout UploadState,
        _ attempt: inout Attempt
    ) async -> [UploadState.Effect] {
        context.observer.began(transfer, false)
        do throws(ItemFailure) {
            try await declareChecksum(&attempt)
        } catch {
            return state.failed(error == .sourceKeepsChanging ? .sourceChanged : .other(error))
        }
        let range = ByteRange(offset: 0, length: attempt.opened.source.size)
        let (store, transfer) = (context.store, transfer)
        var request = request(attempt)
        request.callback = details.callback
        let (file, source) = (attempt.opened.file, attempt.opened.source)
        let isUnchanged: @Sendable (CRC64) -> Bool = { Self.isKept(file, source, $0) }
        let sealed = attempt.sealing.map { $0.body($0.whole, isUnchanged: isUnchanged) }
        let body =
            sealed.map { RequestBody.sealed($0) }
            ?? attempt.opened.content.map { RequestBody.bytes($0) }
            ?? .file(
                FileRegion(
                    descriptor: file.descriptor,
                    range: range,
                    isUnchanged: isUnchanged
                )
            )
        do throws(StorageError) {
            let result = try await store.put(
                request,
                body: body,
                onProgress: SealedUpload.counting(transfer, sealed)
            )
            if let sealed { attempt.sealing?.add(sealed) }
            record(result, &attempt)
            if let declaredChecksum = attempt.declaredChecksum, let sent = result.sentChecksum,
                sent != declaredChecksum
            {
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
        _ attempt: inout Attempt
    ) async -> [UploadState.Effect] {
        let startsOver = attempt.hasBegun
        if startsOver { context.observer.startedOver(.uploadVanished) }
        attempt.hasBegun = true
        transfer.startOver()
        context.observer.began(transfer, false)
        do {
            if startsOver, attempt.sealing != nil {
                // What an earlier upload encrypted may have been another content.
                attempt.token = try await context.uploadToken(key, attempt.opened.source.size)
                seal(&attempt)
            }
            try await declareChecksum(&attempt)
            let checkpoint = UploadCheckpoint(
                key: key,
                uploadID: nil,
                partSize: layout.partSize,
                source: attempt.opened.source,
                token: attempt.token,
                started: context.environment.now(),
                parts: []
            )
            attempt.hasCheckpoint = true
            let uploads = MultipartUploads(context: context)
            return state.initiated(
                try await uploads.initiate(request(attempt), checkpoint)
            )
        } catch {
            let failure = ItemFailure(ofSource: error)
            let hasChanged = failure == .sourceKeepsChanging
            return state.failed(hasChanged ? .sourceChanged : .other(failure))
        }
    }

    private func complete(
        _ upload: UploadID,
        _ parts: [UploadedPart],
        _ state: inout UploadState,
        _ attempt: inout Attempt
    ) async -> [UploadState.Effect] {
        do {
            guard try await isWhole(state.wholeChecksum, attempt) else {
                return state.failed(.sourceChanged)
            }
        } catch {
            return state.failed(.other(ItemFailure(ofSource: error)))
        }
        let proven = await proven(upload, parts)
        guard proven.count == parts.count else {
            details.copies?.end()
            let doubtful = parts.reduce(0) { $0 + $1.size } - proven.reduce(0) { $0 + $1.size }
            transfer.addCopied(-doubtful)
            return state.doubted(keeping: proven)
        }
        attempt.completed = parts
        let request = details.completion(of: context.objectKey(key), upload, parts)
        do {
            let result = try await context.store.completeMultipartUpload(request)
            record(result, &attempt)
            guard isProven(result.etag, parts, attempt) else {
                return state.failed(.answerLost(.uploadVanished(nil)))
            }
            return state.completed(checksum: result.crc64)
        } catch {
            if error.serviceCode == "InvalidPart" || error.serviceCode == "InvalidPartOrder" {
                details.copies?.end()
                return state.failed(.partsRefused(error.answer))
            }
            return state.failed(failure(error, settlesAlreadyExists: true))
        }
    }

    /// True if the parts make up the file as it was at one moment.
    ///
    /// Parts that were read before and after a change make a file that never was. Where its times
    /// cannot tell of a change, or tell that it became longer, the file is read once more.
    private func isWhole(_ checksum: CRC64, _ attempt: Attempt) async throws -> Bool {
        if let declaredChecksum = attempt.declaredChecksum, declaredChecksum != checksum {
            return false
        }
        var isProven =
            attempt.declaredChecksum != nil
            || !RecordedTime.mayHide(
                aChangeOf: attempt.opened.source,
                since: attempt.start,
                now: context.environment.now()
            )
        // What was declared was read before the parts were.
        if (try? attempt.opened.file.identity()) != attempt.opened.source { isProven = false }
        if !isProven {
            guard Self.isKept(attempt.opened.file, attempt.opened.source),
                try await fileChecksum(attempt) == checksum
            else { return false }
        }
        return Self.isKept(attempt.opened.file, attempt.opened.source)
    }

    /// True if the file is what it was, or has only become longer, as far as its size and its
    /// times tell.
    static func isKept(_ file: OpenFile, _ source: FileIdentity) -> Bool {
        guard let found = try? file.identity() else { return false }
        return found == source || found.hasGrown(since: source)
    }

    /// True if the file is what it was, or begins with just what was sent of it.
    ///
    /// Blocks, and reads a file that has become longer.
    private static func isKept(
        _ file: OpenFile,
        _ source: FileIdentity,
        _ sent: CRC64
    ) -> Bool {
        guard let found = try? file.identity() else { return false }
        if found == source { return true }
        guard found.hasGrown(since: source) else { return false }
        let range = ByteRange(offset: 0, length: source.size)
        return (try? file.checksum(of: range)) == sent
            && isKept(file, source)
    }

    /// True if the answer itself shows that the object is what was sent.
    ///
    /// A service that computes the CRC-64 tells it. Of any other the tag must be the one that the
    /// parts make, and the CRC-64 in the metadata the one of the file; where that is not known, the
    /// object is asked for.
    private func isProven(
        _ etag: ETag,
        _ parts: [UploadedPart],
        _ attempt: Attempt
    ) -> Bool {
        guard !context.store.dialect.computesChecksum else { return true }
        guard attempt.declaredChecksum != nil || attempt.sealing != nil else { return false }
        return ETag(wire: etag.text.lowercased()) == MultipartETag.tag(ofParts: parts.map(\.etag))
    }

    /// Asks for the object and compares what only the upload that made it can have.
    private func confirmByHead(
        _ expected: CRC64?,
        _ state: inout UploadState,
        _ layout: PartLayout,
        _ attempt: inout Attempt
    ) async -> [UploadState.Effect] {
        do {
            let metadata = try await context.store.head(
                context.objectKey(key),
                knownSize: attempt.opened.source.size
            )
            var isOurs =
                metadata.userMetadata[StorageDialect.tokenMetadataName] == attempt.token
                && metadata.size == attempt.opened.source.size
            var sent = expected
            var found = metadata.sealed == nil ? metadata.crc64 : metadata.sealed?.crc64
            if !context.store.dialect.computesChecksum { found = nil }
            // Of an encrypted object only this tells the checksum of the content, too.
            if isOurs, sent == nil, found != nil || metadata.sealed != nil {
                sent = try await fileChecksum(attempt)
            }
            if isOurs, let found {
                isOurs = found == sent
            } else if isOurs {
                isOurs = try await matches(metadata, layout, attempt)
            }
            if isOurs, let etag = metadata.etag {
                attempt.confirmed = (etag, metadata.lastModified)
                attempt.versionID = metadata.versionID
                // A PUT without an answer has taken its bytes back.
                transfer.add(Int(transfer.size - transfer.bytesDone))
                // An answer that came already, and was not proof enough, told it.
                if details.callback != nil, attempt.callback == nil { attempt.callback = .unknown }
                return state.settled(isOurs: true, checksum: metadata.crc64 ?? expected)
            }
            return state.settled(isOurs: false, checksum: nil)
        } catch let error as StorageError where error.isNotFound {
            return state.settled(isOurs: false, checksum: nil)
        } catch {
            return state.failed(.other(ItemFailure(ofSource: error)))
        }
    }

    /// True unless what a store without CRC-64 says of the object shows another writer's content:
    /// who replaces an object may keep its metadata, and with them our token.
    private func matches(
        _ metadata: ObjectMetadata,
        _ layout: PartLayout,
        _ attempt: Attempt
    ) async throws -> Bool {
        if let answered = attempt.confirmed?.etag { return metadata.etag == answered }
        if let count = metadata.etag.flatMap({ MultipartETag.partCount(of: $0) }),
            count != layout.partCount
        {
            return false
        }
        let digests = ContentDigest.computed(of: metadata, partSize: layout.partSize)
        if let content = attempt.opened.content {
            return digests.isEmpty || digests.contains { $0.matches(content) }
        }
        let file = attempt.opened.file
        for digest in digests {
            let matches = try await context.reading { interruption in
                try digest.matches(file, size: metadata.size, unless: interruption)
            }
            if matches { return true }
        }
        return digests.isEmpty
    }

    /// Of what was sent, if it was held, or else of the whole file, as it is stored.
    private func fileChecksum(_ attempt: Attempt) async throws -> CRC64 {
        if let sealing = attempt.sealing {
            return try await context.reading { _ in try sealing.checksum(of: sealing.whole) }
        }
        if let content = attempt.opened.content { return CRC64(of: content) }
        let file = attempt.opened.file
        let range = ByteRange(offset: 0, length: attempt.opened.source.size)
        return try await context.reading { interruption in
            try file.checksum(of: range, unless: interruption)
        }
    }

    private func finish(
        _ checksum: CRC64?,
        _ layout: PartLayout,
        _ attempt: inout Attempt
    ) async {
        guard let confirmed = attempt.confirmed else {
            attempt.result = .failure(.uploadVanished(nil))
            return
        }
        attempt.result = .success(
            FinishedUpload(
                etag: confirmed.etag,
                checksum: attempt.sealing.map(\.plainChecksum) ?? checksum,
                lastModified: confirmed.lastModified,
                source: attempt.opened.source,
                permissions: attempt.opened.permissions,
                hasCheckpoint: attempt.hasCheckpoint,
                versionID: attempt.versionID,
                callback: attempt.callback,
                parts: await sentParts(confirmed.etag, layout, attempt, checksum: checksum)
            )
        )
    }
}
