internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

/// What an upload does when its transfer is told to: its attempts, and what comes between them.
///
/// `Uploader` sends the file; what is open at the store is in the record.
struct UploadWork: TransferWork {
    let attempts: TransferAttempts
    private let target: UploadTarget
    /// May lead over symbolic links, being the caller's own word.
    private let path: String
    private let details: UploadDetails

    /// Nothing is written and no request is made; a record that is owned is removed by its owner.
    init(
        of path: String,
        to target: UploadTarget,
        options: UploadOptions,
        isOwned: Bool,
        onNotice: @escaping @Sendable (TransferNotice) -> Void
    ) throws(TransferError) {
        try options.check(for: target.dialect)
        attempts = TransferAttempts(
            displayText(path),
            options.bounded,
            target.recordedSubject,
            options.recordPlace(of: path, object: target.object, isOwned: isOwned),
            monitor: target.monitor,
            onNotice: onNotice
        )
        self.target = target
        self.path = path
        details = options.details
    }

    private var key: ObjectKey { ObjectKey(target.key) }
    private var record: CheckpointFile { attempts.record }

    var cancelled: ResumableUpload.Outcome { .cancelled }

    func attempt(_ gate: PauseGate) async throws(TransferError) -> ResumableUpload.Outcome {
        // Made for each attempt: one of signed requests has a thread and connections, which an
        // upload that has stopped does not need.
        let store = try target.store()
        return .finished(
            try await attempts.run(gate) { () throws(ItemFailure) in
                try await self.record.whileOpen(self.key) { (isUsable) throws(ItemFailure) in
                    if !isUsable { self.attempts.onNotice(.startedOver(.foreignCheckpoint)) }
                    return try await self.send(store)
                }
            }
        )
    }

    func paused() async throws(TransferError) -> ResumableUpload.Outcome { .paused }

    /// Aborts the unfinished upload, which deletes its parts, and removes the record.
    func discard() async throws(TransferError) {
        let store = try target.store()
        try await attempts.reporting { () throws(ItemFailure) in
            do throws(ItemFailure) {
                try await record.whileOpen(key, isPatient: false) { (_) throws(ItemFailure) in
                    try await abort(at: store)
                }
            } catch {
                // Another upload has taken over what this one left.
                guard error == .held else { throw error }
            }
        }
    }

    private func abort(at store: any ObjectStore) async throws(ItemFailure) {
        guard let checkpoint = try await record.upload(key) else { return }
        // The file itself is not needed, and may be gone.
        let uploads = MultipartUploads(context: try await attempts.context(store))
        do {
            try await uploads.abort(checkpoint)
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
        try await record.forget()
    }
}

// MARK: - An attempt

extension UploadWork {
    /// Sends the file, and once more if it changed meanwhile, unless it is not to be begun again.
    private func send(_ store: any ObjectStore) async throws(ItemFailure) -> UploadedObject {
        do throws(ItemFailure) {
            return try await sendOnce(store)
        } catch {
            guard error == .sourceKeepsChanging else { throw error }
        }
        guard details.startsOver else { throw .cannotResume }
        attempts.onNotice(.startedOver(.fileChanged))
        return try await sendOnce(store)
    }

    /// Sends what is missing and makes the object.
    ///
    /// - Throws: `sourceKeepsChanging` if the file changed meanwhile. `cancelled` also after a
    ///   pause; the record then has what the next attempt needs.
    private func sendOnce(_ store: any ObjectStore) async throws(ItemFailure) -> UploadedObject {
        do throws(ItemFailure) {
            let object = try await sendAll(store)
            return object
        } catch {
            // The record is written in any case; only the transfer's own failure is reported.
            do throws(ItemFailure) {
                try await record.flush()
                if error.isAlreadyExists || error.isRefusal, try await !hasBegun {
                    try await record.forget()
                }
            } catch { _ = error }
            throw error
        }
    }

    private func sendAll(_ store: any ObjectStore) async throws(ItemFailure) -> UploadedObject {
        let (location, directory, size) = try await open()
        let context = attempts.context(store, directory)
        try await check(size, context)
        let uploader = Uploader(
            context: context,
            key: key,
            path: location.name,
            transfer: TransferCounter(.upload, key: key, size: size),
            details: details
        )
        let finished = try await uploader.run()
        try await record.end()
        return UploadedObject(
            key: target.key,
            size: finished.source.size,
            etag: finished.etag.text,
            crc64: finished.checksum?.value,
            versionID: finished.versionID?.text,
            callback: finished.callback.map { UploadCallback.Reply($0) }
        )
    }

    /// True if the store has an upload that a later attempt could resume.
    private var hasBegun: Bool {
        get async throws(ItemFailure) { try await record.upload(key)?.uploadID != nil }
    }

    /// Asks before a large file is sent whose object is not to be replaced, where the store itself
    /// may not refuse it, or only at its end.
    ///
    /// The one request of a small file is asked about by the client, right before it.
    private func check(_ size: Int64, _ context: TransferContext) async throws(ItemFailure) {
        let dialect = context.store.dialect
        let smallest = max(attempts.partSize, dialect.minimumPartSize)
        let isLarge = size > max(smallest, attempts.largestSinglePut)
        guard details.isNew, isLarge,
            dialect.versionsIgnoreConditions || !dialect.refusesAtOnce,
            try await !hasBegun
        else { return }
        try await context.requireAbsent(key)
    }

    private func open() async throws(ItemFailure) -> (FileDestination, MirrorDirectory, Int64) {
        let path = path
        do {
            return try await attempts.disk.run {
                let location = try FileDestination(GivenPath.resolved(path))
                let directory = try location.open(.standard)
                let size = try directory.openForReading(location.name).identity().size
                return (location, directory, size)
            }
        } catch LocalError.targetIsDirectory {
            throw .local(message: "it is a directory; an upload sends one file")
        } catch LocalError.targetIsSpecial(_, let kind) {
            throw .local(message: "it is \(kind.description), not a file")
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
    }
}

extension UploadOptions {
    /// What an upload of one file or stream makes of its object.
    var details: UploadDetails {
        var details = UploadDetails(properties, keepsFileMetadata: keepsFileMetadata)
        details.isNew = ifExists == .fail
        details.callback = callback?.wire
        details.existenceIsUnknown = true
        details.startsOver = startsOver
        return details
    }
}
