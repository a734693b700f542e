internal import LocalStorage
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// What a download does when its transfer is told to: its attempts, and what comes between them.
///
/// 1. Look at the target and the record: a finished earlier attempt is recognized and returned.
/// 2. `Downloader` fetches what is missing; `PauseGate` lets the caller pause it.
/// 3. The file gets its name by `MirrorDirectory.publish`, and the record is removed.
///
/// Not guaranteed: continuing in another process, if the caller keeps neither a record nor the
/// checkpoint that a pause returns.
struct DownloadWork: TransferWork {
    let attempts: TransferAttempts
    let source: DownloadSource
    /// As the caller gave it.
    let path: String
    let destination: FileDestination
    /// False: a file that is there is an error.
    private let replacesFile: Bool
    private let given: GivenCheckpoint

    /// Nothing is written and no request is made; a record that is owned is removed by its owner.
    init(
        from source: DownloadSource,
        to path: String,
        checkpoint: Checkpoint?,
        options: DownloadOptions,
        isOwned: Bool,
        onNotice: @escaping @Sendable (TransferNotice) -> Void
    ) throws(TransferError) {
        try options.check()
        destination = try FileDestination(path)
        var attempts = TransferAttempts(
            displayText(path),
            options,
            source.subject,
            options.recordPlace(of: path, object: nil, isOwned: isOwned),
            monitor: source.monitor,
            onNotice: onNotice
        )
        attempts.pauseLoss = options.pauseLoss
        attempts.reservesSpace = options.reservesSpace
        self.attempts = attempts
        self.source = source
        self.path = path
        replacesFile = options.ifExists == .replace
        given = GivenCheckpoint(checkpoint)
    }

    var cancelled: ResumableDownload.Outcome { .cancelled }

    func attempt(_ gate: PauseGate) async throws(TransferError) -> ResumableDownload.Outcome {
        // Made for each attempt: it has a thread and connections, which a download that has
        // stopped does not need.
        let store = try source.store()
        do throws(TransferError) {
            let file = try await attempts.run(gate) { () throws(ItemFailure) in
                try await self.withRecord { () throws(ItemFailure) in
                    // First, so that a refused second transfer of the file leaves no record.
                    try await self.attempts.record.removeLeftovers(of: self.destination)
                    try await self.attempts.record.announce()
                    return try await self.fetch(store, gate)
                }
            }
            return .finished(file)
        } catch {
            throw error.with(checkpoint: await attempts.record.checkpoint)
        }
    }

    /// What another process needs to resume, also from an earlier process.
    func paused() async throws(TransferError) -> ResumableDownload.Outcome {
        let checkpoint = try await attempts.reporting { () throws(ItemFailure) in
            try await withOwnRecord { () throws(ItemFailure) in await attempts.record.checkpoint }
        }
        if let checkpoint { return .paused(checkpoint) }
        return .paused(await attempts.record.checkpoint)
    }

    /// Deletes the partial file and the record, for which no store is needed.
    func discard() async throws(TransferError) {
        let destination = destination
        try await attempts.reporting { () throws(ItemFailure) in
            _ = try await withOwnRecord { () throws(ItemFailure) in
                if let name = try await attempts.record.download(source.key)?.partialName {
                    try await attempts.record.remove(name, of: destination)
                }
                try await attempts.record.forget()
            }
        }
    }

    /// The same after an attempt, for which nothing is waited for.
    ///
    /// - Returns: Nil if another transfer has taken over what this one left.
    private func withOwnRecord<Value: Sendable>(
        _ body: () async throws(ItemFailure) -> Value
    ) async throws(ItemFailure) -> Value? {
        do throws(ItemFailure) {
            return try await withRecord(isPatient: false, body)
        } catch {
            guard error == .held else { throw error }
            return nil
        }
    }

    /// Reads what there is, and keeps other transfers from it while `body` runs.
    private func withRecord<Value: Sendable>(
        isPatient: Bool = true,
        _ body: () async throws(ItemFailure) -> Value
    ) async throws(ItemFailure) -> Value {
        try await attempts.record.whileOpen(source.key, isPatient: isPatient) {
            (isUsable) throws(ItemFailure) in
            let isTaken =
                if let checkpoint = given.take() {
                    await attempts.record.restore(from: checkpoint, source.key)
                } else {
                    isUsable
                }
            if !isTaken { attempts.onNotice(.startedOver(.foreignCheckpoint)) }
            return try await body()
        }
    }
}

// MARK: - An attempt

extension DownloadWork {
    /// Fetches what is missing and puts the file into its place.
    ///
    /// - Throws: `cancelled` also after a pause; the record then has what the next attempt needs.
    private func fetch(
        _ store: any ObjectReader,
        _ gate: PauseGate
    ) async throws(ItemFailure) -> DownloadedFile {
        do throws(ItemFailure) {
            let file = try await fetchAll(store, gate)
            return file
        } catch {
            // The record is written in any case; only the transfer's own failure is reported.
            do throws(ItemFailure) { try await attempts.record.flush() } catch { _ = error }
            throw error
        }
    }

    private func fetchAll(
        _ store: any ObjectReader,
        _ gate: PauseGate
    ) async throws(ItemFailure) -> DownloadedFile {
        let (directory, isFree) = try await openDirectory()
        let context = attempts.context(store, directory)
        // Without a record there is nothing that could have put the file there.
        if await attempts.record.isWhole, let file = try await found(context) { return file }
        guard isFree else {
            try await dropUselessRecord(directory)
            throw .fileExists
        }
        let finished = try await UnlistedDownload(key: source.key, context: context, gate: gate)
            .run()
        // If this is not recorded and the process is killed, the file is transferred again.
        try? await attempts.record.noteWhole(finished.received)
        let fallback = finished.lastModified ?? attempts.environment.now()
        try await publish(
            Publication(
                partialName: finished.partialName,
                path: destination.name,
                modified: finished.modified ?? fallback,
                expected: replacesFile ? .anything : .absent,
                backup: .replace,
                permissions: finished.permissions
            ),
            in: directory
        )
        try await attempts.record.end()
        return file(
            finished.metadata
                ?? ObjectMetadata(size: finished.object.size, etag: finished.object.etag),
            finished.received,
            isVerified: finished.checksum != nil
        )
    }

    func file(
        _ metadata: ObjectMetadata,
        _ checksum: CRC64,
        isVerified: Bool
    ) -> DownloadedFile {
        DownloadedFile(
            path: path,
            info: ObjectInfo(String(decoding: source.key.bytes, as: UTF8.self), metadata),
            crc64: checksum.value,
            isVerified: isVerified || metadata.isProvenByBlocks
        )
    }

    /// The directory; false beside it if a file is there that is not to be replaced.
    private func openDirectory() async throws(ItemFailure) -> (MirrorDirectory, isFree: Bool) {
        let destination = destination
        let (directory, state) = try await attempts.disk.reporting {
            () throws(LocalError) -> (MirrorDirectory, LocalState) in
            let directory = try destination.open(.standard)
            return (directory, try directory.identity(of: destination.name))
        }
        switch state {
        case .directory: throw ItemFailure(LocalError.targetIsDirectory(destination.name))
        case .absent: return (directory, true)
        case .file, .other: return (directory, replacesFile)
        }
    }

    /// Forgets a partial file that is gone: a power cut can leave the record of a file that already
    /// has its name.
    private func dropUselessRecord(_ directory: MirrorDirectory) async throws(ItemFailure) {
        guard let name = try await attempts.record.download(source.key)?.partialName else { return }
        let partial = try await attempts.disk.reporting { () throws(LocalError) in
            try directory.partials.open(name, expectedSize: nil)
        }
        if partial == nil { try await attempts.record.forget() }
    }

    private func publish(
        _ publication: Publication,
        in directory: MirrorDirectory
    ) async throws(ItemFailure) {
        let outcome = try await attempts.disk.reporting { () throws(LocalError) in
            try directory.publish([publication], durability: .synchronizedEach).first
        }
        switch outcome {
        case .published, nil: return
        case .failed(.targetChanged), .failed(.nameTaken): throw .fileExists
        case .failed(let error): throw ItemFailure(error)
        }
    }
}

/// A checkpoint that is used once.
private final class GivenCheckpoint: Sendable {
    private let checkpoint: Mutex<Checkpoint?>

    init(_ checkpoint: Checkpoint?) { self.checkpoint = Mutex(checkpoint) }

    func take() -> Checkpoint? {
        checkpoint.withLock { checkpoint in
            defer { checkpoint = nil }
            return checkpoint
        }
    }
}
