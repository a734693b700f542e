internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

extension Downloader {
    /// The first effects: from a checkpoint that is still true, or from the first byte.
    func begin(
        _ state: inout DownloadState,
        _ attempt: inout Attempt
    ) async -> [DownloadState.Effect] {
        if !context.hasRecords, isHeld(attempt.object) { return state.start(attempt.object) }
        let checkpoint: DownloadCheckpoint?
        do {
            checkpoint = try await context.records.download(key)
        } catch {
            return state.abandon(error, keepsCheckpoint: true)
        }
        guard let checkpoint else { return state.start(attempt.object) }
        do {
            return try await resume(checkpoint, &state, &attempt) ?? state.start(attempt.object)
        } catch {
            return state.abandon(ItemFailure(ofTransfer: error), keepsCheckpoint: true)
        }
    }

    /// The first effects from a checkpoint; nil if it is of no use, after which it is gone.
    func resume(
        _ checkpoint: DownloadCheckpoint,
        _ state: inout DownloadState,
        _ attempt: inout Attempt
    ) async throws -> [DownloadState.Effect]? {
        if let (partial, ranges) = try await usable(checkpoint, for: attempt.object) {
            attempt.partial = (checkpoint.partialName, partial)
            attempt.hasCheckpoint = true
            attempt.object.crc64 = checkpoint.crc64
            transfer.setResumed(ranges.reduce(0) { $0 + $1.received })
            return state.resume(attempt.object, ranges: ranges)
        }
        let isSame = checkpoint.etag == attempt.object.etag
        context.observer.startedOver(isSame ? .partialUnusable : .objectChanged)
        try await drop(checkpoint.partialName)
        return nil
    }

    /// The partial file of a checkpoint and what is known to be in it; nil if it is of no use.
    private func usable(
        _ checkpoint: DownloadCheckpoint,
        for object: PinnedObject
    ) async throws -> (OpenFile, [RangeProgress])? {
        guard checkpoint.etag == object.etag, checkpoint.size == object.size,
            !checkpoint.etag.isWeak,
            let partial = try await openPartial(checkpoint)
        else { return nil }
        do {
            return (
                partial, try await PartialReader(context: context).verified(checkpoint, in: partial)
            )
        } catch let error as LocalError where error.isMediaFailure {
            // What cannot be read back is fetched again.
            return nil
        }
    }

    private func openPartial(_ checkpoint: DownloadCheckpoint) async throws -> OpenFile? {
        let directory = context.directory
        return try await context.disk.run { () throws(LocalError) in
            try directory.partials.open(checkpoint.partialName, expectedSize: checkpoint.size)
        }
    }

    func perform(
        _ effect: DownloadState.Effect,
        _ state: inout DownloadState,
        _ attempt: inout Attempt
    ) async -> [DownloadState.Effect] {
        switch effect {
        case .begin(let object):
            do {
                try await makePartial(object, &attempt)
            } catch {
                // The fetches that followed this effect have no file to go to.
                attempt.effects = []
                return state.abandon(ItemFailure(ofPartial: error), keepsCheckpoint: false)
            }
        case .lookUp:
            return await lookUp(&state, attempt)
        case .confirm:
            return await confirm(&state, &attempt)
        case .finish(let object, let checksum):
            return await finish(object, checksum, &state, &attempt)
        case .fail(let failure, let keepsCheckpoint):
            await leave(attempt, keepsCheckpoint: keepsCheckpoint)
            attempt.result = .failure(failure)
        case .fetch, .cancelFetches:
            break
        }
        return []
    }

    /// Leaves the partial file of a failed transfer to the next run, or removes it.
    private func leave(_ attempt: Attempt, keepsCheckpoint: Bool) async {
        guard let partial = attempt.partial else { return }
        // Without a row nobody would find the file again, and without a byte it only takes room.
        if keepsCheckpoint, attempt.hasCheckpoint, transfer.bytesDone > 0 {
            // Without a seal it is read back.
            guard let identity = try? partial.file.identity() else { return }
            await context.records.sealDownload(
                key,
                identity,
                partialName: partial.name,
                bootID: context.directory.bootID
            )
        } else {
            // A partial that cannot be removed is swept by a later run.
            try? await drop(partial.name)
        }
    }

    private func makePartial(
        _ object: PinnedObject,
        _ attempt: inout Attempt
    ) async throws {
        let earlier = attempt.partial?.name
        if earlier != nil || attempt.body != nil {
            context.observer.startedOver(
                object.etag == attempt.object.etag ? .wrongContent : .objectChanged
            )
            attempt.partial = nil
            if let earlier { try await drop(earlier) }
            transfer.startOver(size: object.size)
            // What came for an earlier partial file is not in this one.
            ranges.leading?.release()
        }
        attempt.object = object
        attempt.metadata = nil
        attempt.proving = Proving()
        attempt.body = nil
        attempt.ready = nil
        if isHeld(object) {
            // What cannot be written afterwards is not asked for.
            try context.directory.partials.require()
            // Its own claim from before it began anew would be waited for without end.
            attempt.room = nil
            attempt.room = try await claimRoom(for: object.size)
            attempt.hasCheckpoint = false
            let transfer = transfer
            attempt.body = FileSink(holding: object.size) { transfer.add($0) }
            return
        }
        let (directory, reserves) = (context.directory, context.reservesSpace)
        let partial = try await context.disk.run { () throws(LocalError) in
            try directory.partials.create(size: object.size, after: earlier, reserves: reserves)
        }
        attempt.partial = (partial.name, partial.file)
        // A file that a kill may fetch again as a whole needs no row.
        attempt.hasCheckpoint = object.size > context.largestUnrecorded && !ranges.isInOneGo
        guard attempt.hasCheckpoint else { return }
        try await context.records.beginDownload(
            DownloadCheckpoint(
                key: key,
                size: object.size,
                etag: object.etag,
                crc64: object.crc64,
                partialName: partial.name,
                rangeSize: context.partSize,
                ranges: []
            )
        )
    }

    /// Room for an object, once what is on its way has taken its own: only then is it known.
    private func claimRoom(for size: Int64) async throws -> ClaimedRoom {
        while true {
            do {
                return try await claimRoomNow(for: size)
            } catch let error as LocalError where error.isOutOfRoom {
                guard context.directory.disk.hasClaims else { throw error }
            }
            try await context.environment.sleep(.milliseconds(20))
        }
    }

    private func claimRoomNow(for size: Int64) async throws -> ClaimedRoom {
        let directory = context.directory
        let room = directory.disk.claimRoom(for: size)
        if !room.isSure {
            try await context.disk.run { () throws(LocalError) in try directory.disk.check(room) }
        }
        return room
    }

    /// True for an object that is held in memory until it is whole.
    ///
    /// Larger ones would take too much of it, with many at once; for those the calls that are saved
    /// matter little.
    private func isHeld(_ object: PinnedObject) -> Bool {
        let limit = min(Self.largestHeld, context.partSize, context.largestUnrecorded)
        return ranges.gate == nil && object.size <= limit
    }

    private static let largestHeld: Int64 = 256 << 10

    /// Writes what is held into a partial file.
    private func write(
        _ body: FileSink,
        _ attempt: inout Attempt,
        keepsOpen: Bool
    ) async throws(ItemFailure) {
        let directory = context.directory
        let modified =
            Self.modified(attempt.metadata) ?? attempt.listedTime ?? context.environment.now()
        do {
            let (ready, file) = try await context.disk.run { () throws(LocalError) in
                try body.withHeldBytes { (bytes) throws(LocalError) in
                    try directory.partials.create(
                        holding: bytes,
                        modified: modified,
                        keepsOpen: keepsOpen
                    )
                }
            }
            attempt.ready = ready
            attempt.room = nil
            attempt.partial = file.map { (ready.name, $0) }
        } catch {
            throw ItemFailure(ofPartial: error)
        }
    }

    private static func modified(_ metadata: ObjectMetadata?) -> Timestamp? {
        ModificationTime.of(
            userMetadata: metadata?.userMetadata ?? [:],
            lastModified: metadata?.lastModified
        )
    }

    private func drop(_ partialName: String) async throws {
        try await context.records.dropDownload(key)
        await context.removePartial(partialName)
    }

    private func lookUp(
        _ state: inout DownloadState,
        _ attempt: Attempt
    ) async -> [DownloadState.Effect] {
        do {
            let found = try await head(knownSize: attempt.object.size)
            guard !isUncheckedLink(found) else { return state.lookUpFailed(Self.uncheckedLink) }
            return state.lookedUp(found.object)
        } catch {
            return state.lookUpFailed(error)
        }
    }

    private func confirm(
        _ state: inout DownloadState,
        _ attempt: inout Attempt
    ) async -> [DownloadState.Effect] {
        if let opened = attempt.opened, opened.versionTag == attempt.object.etag {
            attempt.opened = nil
            attempt.metadata = opened
            return state.confirmed(attempt.object)
        }
        do {
            let found = try await head(knownSize: attempt.object.size)
            let isSame = found.object.etag == attempt.object.etag
            guard isSame || !isUncheckedLink(found) else {
                return state.confirmFailed(Self.uncheckedLink)
            }
            // Of another version it is forgotten again when that is begun.
            attempt.metadata = found.metadata
            return state.confirmed(found.object)
        } catch {
            return state.confirmFailed(error)
        }
    }

    /// True for a link that took the object's place or got another target.
    ///
    /// It may lead out of the prefix, which the next listing finds out. What is fetched alone has
    /// no prefix.
    private func isUncheckedLink(
        _ found: (object: PinnedObject, metadata: ObjectMetadata)
    ) -> Bool {
        found.metadata.kind == .symlink && !context.prefix.isEmpty
    }

    private static let uncheckedLink = ItemFailure.storage(
        message: "the object became a link, or the link's target changed, after the listing; "
            + "run again"
    )

    /// The object as it is now.
    func head(
        knownSize: Int64 = 0
    ) async throws(ItemFailure) -> (object: PinnedObject, metadata: ObjectMetadata) {
        try await context.head(key, knownSize: knownSize, isInOneGo: ranges.isInOneGo)
    }

    /// True if what has arrived is encrypted, and nothing decrypts it.
    func isSealed(_ attempt: Attempt) -> Bool {
        guard context.store.refusesSealed else { return false }
        if let body = attempt.body {
            return body.withHeldBytes {
                SealedFormat.isSealed(attempt.metadata, beginning: $0)
            }
        }
        // What cannot be read back is no file, either.
        let bytes = (try? attempt.partial?.file.read(at: 0, length: 8)) ?? []
        return unsafe SealedFormat.isSealed(attempt.metadata, beginning: bytes.span.bytes)
    }

    private func finish(
        _ object: PinnedObject,
        _ checksum: CRC64,
        _ state: inout DownloadState,
        _ attempt: inout Attempt
    ) async -> [DownloadState.Effect] {
        if isSealed(attempt) {
            await leave(attempt, keepsCheckpoint: false)
            attempt.result = .failure(.encrypted)
            return []
        }
        // An object from before the service computed checksums has none there either.
        let isCompared = context.store.dialect.computesChecksum && object.crc64 != nil
        let isJudged = !isCompared && object.size > 0
        do throws(ItemFailure) {
            if let body = attempt.body { try await write(body, &attempt, keepsOpen: isJudged) }
            if isJudged, let file = attempt.partial?.file {
                let isAccepted = try await isAccepted(file, object, checksum, &attempt)
                guard isAccepted else { return state.contentMismatch(object) }
            }
        } catch {
            attempt.result = .failure(error)
            return []
        }
        guard let name = attempt.ready?.name ?? attempt.partial?.name else { return [] }
        attempt.result = .success(
            FinishedDownload(
                partialName: name,
                ready: attempt.ready,
                object: object,
                // A row that vouches for content nobody verified would make copies that lie.
                checksum: attempt.isProven ? checksum : nil,
                received: checksum,
                modified: Self.modified(attempt.metadata),
                lastModified: attempt.metadata?.lastModified,
                hasCheckpoint: attempt.hasCheckpoint,
                metadata: attempt.metadata
            )
        )
        return []
    }
}
