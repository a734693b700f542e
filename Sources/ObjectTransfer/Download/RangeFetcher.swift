internal import LocalStorage
internal import ObjectStorage
internal import SyncModel

/// What a task of a download has come to.
enum RangeEnd: Sendable {
    case finished(Int, CRC64, ObjectMetadata)
    case failed(Int, RangeFailure)
    /// The request that opened the object has ended; its range says how.
    case opened
    /// What the store says of the object beside its content.
    case described(ObjectMetadata?)
    /// False if the bytes could not be read back.
    case digested([DigestProgress.Job], Bool)
}

/// Fetches ranges of one object into its file, checkpointing on the way.
struct RangeFetcher: Sendable {
    let context: TransferContext
    let key: ObjectKey
    let transfer: TransferCounter
    /// Stops the requests gently; nil where a kill is all that interrupts.
    var gate: PauseGate?
    /// The request that found the object, whose answer brings its first bytes.
    var opening: ObjectOpening?
    /// The ranges that its answer brings, if there are several.
    var leading: LeadingRanges?
    /// True where nothing but the whole object can be asked for, which cannot be resumed.
    var isInOneGo = false

    /// Fetches what remains of `range`, checkpointing on the way.
    ///
    /// No request but the first asks for more than a kill may cost: what the system has received
    /// for a process that is gone comes again, and on a fast line that is megabytes.
    func fetch(
        _ range: RangeProgress,
        of object: PinnedObject,
        into file: OpenFile,
        checkpointing partialName: String?
    ) async -> RangeEnd {
        if let end = await leadingEnd(range, of: object, into: file, checkpointing: partialName) {
            return end
        }
        var progress = range
        while true {
            let rest = progress.remaining
            let opened = opening?.claim(rest)
            let piece =
                opened
                ?? ByteRange(
                    offset: rest.offset,
                    length: min(rest.length, requestLength(object))
                )
            let end = await fetch(
                piece,
                of: progress,
                object,
                file,
                partialName,
                opened == nil ? nil : opening
            )
            guard case .finished(_, let checksum, _) = end else { return end }
            progress.received += piece.length
            progress.checksum = checksum
            if progress.isComplete { return end }
        }
    }

    /// Fetches a whole small object into memory.
    func fetch(
        _ range: RangeProgress,
        of object: PinnedObject,
        holding body: FileSink
    ) async -> RangeEnd {
        await get(range.range, of: range, object, body, nil)
    }

    /// What one request asks for at most, in bytes.
    private func requestLength(_ object: PinnedObject) -> Int64 {
        guard gate != nil else { return context.limits.maximumUncheckpointed }
        return context.limits.requestLength(
            rangeCount: (object.size - 1) / context.partSize + 1,
            rangeSize: context.partSize,
            isFirstUnderWay: opening?.hasNotEnded ?? false
        )
    }

    /// Fetches `piece`, with which the missing rest of the range begins.
    private func fetch(
        _ piece: ByteRange,
        of range: RangeProgress,
        _ object: PinnedObject,
        _ file: OpenFile,
        _ partialName: String?,
        _ opening: ObjectOpening?
    ) async -> RangeEnd {
        let checkpoints = ConflatedValue<RangeProgress>()
        let sink = sink(piece, of: range, file, isRecorded: partialName != nil) {
            received,
            checksum in
            var progress = range
            progress.received += received
            progress.checksum = checksum
            checkpoints.offer(progress)
        }
        if let gate, !gate.begin(sink) {
            // The others go on until little is under way; then all of them end together.
            await gate.untilDrained()
            return .failed(range.index, .other(.cancelled))
        }
        async let failure = save(checkpoints, of: range, sink, partialName)
        let end = await get(piece, of: range, object, sink, opening)
        gate?.end(sink)
        checkpoints.finish()
        if let failure = await failure { return .failed(range.index, .other(failure)) }
        if let gate, gate.isRaised, case .failed(_, .other(.cancelled)) = end {
            // What has arrived for the others counts, too.
            await gate.untilDrained()
        }
        return end
    }

    /// Before each write a run on a file system of several machines looks whether the mirror is
    /// still its own: the file may be complete by now, and another one's.
    private var permission: WritePermission? {
        let directory = context.directory
        guard directory.isLeased else { return nil }
        let threads = context.environment.threads
        return WritePermission(
            isGiven: { directory.isLockTrusted },
            ask: { answer in
                let begin = threads.makeQueue("osssync.lease.look", .serial)
                begin { answer((try? directory.requireLock()) != nil) }
            }
        )
    }

    /// Makes a sink for `piece` of the file, with which the missing rest of `range` begins.
    func sink(
        _ piece: ByteRange,
        of range: RangeProgress,
        _ file: OpenFile,
        isRecorded: Bool,
        rangeLength: Int64 = .max,
        onCheckpoint: @escaping @Sendable (_ received: Int64, _ checksum: CRC64) -> Void
    ) -> FileSink {
        let (transfer, gate) = (transfer, gate)
        let (never, monotonic) = (Int64.max, context.environment.monotonic)
        return FileSink(
            descriptor: file.descriptor,
            fileOffset: piece.offset,
            expectedLength: piece.length,
            initialChecksum: range.checksum,
            checkpointInterval: isRecorded ? context.limits.checkpointInterval : never,
            // A mirror's run continues with what was synchronized; only a transfer of an app is
            // killed every few seconds.
            monotonic: isRecorded && gate != nil ? monotonic : nil,
            maximumUnacknowledged: isRecorded ? context.limits.maximumUncheckpointed : never,
            rangeLength: rangeLength,
            permission: permission,
            onCheckpoint: onCheckpoint,
            onProgress: { bytes in
                transfer.add(bytes)
                gate?.receive(bytes)
            }
        )
    }

    func get(
        _ piece: ByteRange,
        of range: RangeProgress,
        _ object: PinnedObject,
        _ sink: FileSink,
        _ opening: ObjectOpening?
    ) async -> RangeEnd {
        let request = GetRequest(
            key: context.objectKey(key),
            range: piece,
            ifMatch: object.etag,
            versionID: nil,
            totalSize: object.size
        )
        do throws(StorageError) {
            let metadata =
                if let opening {
                    try await opening.receive(into: sink)
                } else if isInOneGo {
                    try await getWhole(object, into: sink)
                } else {
                    try await context.store.get(request, into: sink)
                }
            // What is taken for complete is in the file, whatever an answer was taken for.
            guard sink.received == sink.expectedLength else {
                throw StorageError(
                    kind: .transport(.bodyTooShort(received: sink.received)),
                    operation: "GetObject",
                    key: request.key
                )
            }
            return .finished(range.index, sink.checksum, metadata)
        } catch {
            if error.isNotFound { return .failed(range.index, .vanished(error.answer)) }
            if error.isPreconditionFailed || error.isRangeNotSatisfiable {
                return .failed(range.index, .objectChanged(error.answer))
            }
            if case .localIO(let errno, let call) = error.kind {
                return .failed(range.index, failure(of: call, errno, neededBytes: piece.length))
            }
            return .failed(range.index, .other(ItemFailure(error)))
        }
    }

    /// Fetches all of an object, of which no request can name the version.
    private func getWhole(
        _ object: PinnedObject,
        into sink: FileSink
    ) async throws(StorageError) -> ObjectMetadata {
        let request = ObjectOpening.request(context.objectKey(key), length: nil)
        let metadata = try await context.store.open(request) { opened in
            let isSame = opened.metadata.versionTag == object.etag
            return isSame && opened.range.length == object.size ? sink : nil
        }
        guard let found = metadata.versionTag, found == object.etag, metadata.size == object.size
        else {
            throw StorageError(
                kind: .integrity(
                    .objectChanged(expected: object.etag, found: metadata.etag ?? ETag(wire: ""))
                ),
                operation: "GetObject",
                key: request.key
            )
        }
        return metadata
    }

    /// The partial file could not be written.
    private func failure(
        of call: String,
        _ errno: Int32,
        neededBytes: Int64
    ) -> RangeFailure {
        let error = LocalError.systemCall(
            SystemCallError(call: call, errno: errno, path: key.display)
        )
        let explained = context.directory.disk.explained(error, neededBytes: neededBytes)
        let failure = ItemFailure(ofPartial: explained)
        return error.isMediaFailure ? .disk(failure) : .other(failure)
    }

    /// Writes the checkpoints of one stream as they come and tells the sink that they are safe.
    private func save(
        _ checkpoints: ConflatedValue<RangeProgress>,
        of range: RangeProgress,
        _ sink: FileSink,
        _ partialName: String?
    ) async -> ItemFailure? {
        var failure: ItemFailure?
        while let progress = await checkpoints.next() {
            guard let partialName else { continue }
            do throws(ItemFailure) {
                try await save(progress, partialName)
            } catch {
                failure = error
            }
            // Also after a failure: the sink must not wait for what will not come.
            sink.acknowledge(upTo: progress.received - range.received)
        }
        return failure
    }

    func save(_ progress: RangeProgress, _ partialName: String) async throws(ItemFailure) {
        var progress = progress
        progress.bootID = context.directory.bootID
        try await context.records.saveRange(key, progress, partialName: partialName)
    }
}

// MARK: - Several ranges by the request that opened the object

extension RangeFetcher {
    /// How a range ended that the first request was to bring; nil if it is to be fetched.
    func leadingEnd(
        _ range: RangeProgress,
        of object: PinnedObject,
        into file: OpenFile,
        checkpointing partialName: String?
    ) async -> RangeEnd? {
        guard let leading, leading.metadata.etag == object.etag, range.received == 0 else {
            return nil
        }
        if range.index == 0 {
            guard leading.start() else { return nil }
            // What comes after an object that was replaced meanwhile is not this answer.
            _ = opening?.claim(leading.bytes)
            return await receive(leading, range, of: object, into: file, partialName)
        }
        switch await leading.arrival(of: range) {
        case .received(let checksum): return .finished(range.index, checksum, leading.metadata)
        case .released: return nil
        }
    }

    /// Receives all that the first request brings, or as much as it brings in time.
    private func receive(
        _ leading: LeadingRanges,
        _ range: RangeProgress,
        of object: PinnedObject,
        into file: OpenFile,
        _ partialName: String?
    ) async -> RangeEnd {
        defer { leading.end() }
        let received = ConflatedValue<Int64>()
        let sink = sink(
            leading.bytes,
            of: range,
            file,
            isRecorded: partialName != nil,
            rangeLength: leading.rangeSize
        ) { count, checksum in
            leading.receive(count, checksum)
            received.offer(count)
        }
        if let gate, !gate.begin(sink) {
            await gate.untilDrained()
            return .failed(range.index, .other(.cancelled))
        }
        async let failure = save(leading, received, sink, partialName)
        let end = await withTaskGroup(of: Void.self) { group in
            group.addTask { await shareIfSlow(leading, sink) }
            let end = await get(leading.bytes, of: range, object, sink, opening)
            group.cancelAll()
            return end
        }
        gate?.end(sink)
        received.finish()
        if let failure = await failure { return .failed(range.index, .other(failure)) }
        switch end {
        case .finished(_, _, let metadata):
            guard case .received(let checksum) = await leading.arrival(of: range) else {
                return .failed(range.index, .other(.cancelled))
            }
            return .finished(range.index, checksum, metadata)
        case .failed(_, .other(.cancelled)):
            if let gate, gate.isRaised { await gate.untilDrained() }
            return end
        default: return end
        }
    }

    /// Ends the first request after the range under way once the rest would take longer than other
    /// requests take to be answered.
    private func shareIfSlow(_ leading: LeadingRanges, _ sink: FileSink) async {
        let environment = context.environment
        let start = environment.monotonic()
        while (try? await environment.sleep(leading.patience)) != nil, !Task.isCancelled {
            let received = sink.received
            let missing = Double(sink.expectedLength - received)
            let elapsed = environment.monotonic() - start
            // Both sides are times for the received bytes.
            guard elapsed * missing > leading.patience * Double(received) else { continue }
            guard let gate, gate.shorten(sink) else { return }
            return leading.shorten(to: sink.expectedLength)
        }
    }

    /// Records what has come, and then lets the waiting tasks know.
    private func save(
        _ leading: LeadingRanges,
        _ received: ConflatedValue<Int64>,
        _ sink: FileSink,
        _ partialName: String?
    ) async -> ItemFailure? {
        var failure: ItemFailure?
        while let count = await received.next() {
            let ranges = leading.unrecorded
            do throws(ItemFailure) {
                for range in ranges {
                    if let partialName { try await save(range, partialName) }
                }
                if failure == nil { leading.recorded(ranges) }
            } catch {
                failure = error
            }
            // Also after a failure: the sink must not wait for what will not come.
            sink.acknowledge(upTo: count)
        }
        return failure
    }
}
