internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

extension Downloader {
    private struct Checkpoint: Sendable {
        let received: Int64
        let checksum: CRC64
    }

    /// Fetches what remains of `range`, checkpointing on the way.
    ///
    /// No request asks for more than a kill may cost: what the system has received for a process
    /// that is gone comes again, and on a fast line that is megabytes. With a gate it asks for no
    /// more than that allows.
    func fetch(
        _ range: RangeProgress,
        of object: PinnedObject,
        into file: OpenFile,
        checkpointing partialName: String?
    ) async -> RangeEnd {
        var progress = range
        while true {
            let rest = progress.remaining
            let limit = means.limits.maximumUncheckpointed
            let length = min(rest.length, gate?.nextLength(atMost: limit) ?? limit)
            let piece = ByteRange(offset: rest.offset, length: length)
            let end = await fetch(piece, of: progress, object, file, partialName)
            guard case .finished(_, let checksum, _) = end else { return end }
            progress.received += length
            progress.checksum = checksum
            if progress.isComplete { return end }
        }
    }

    /// Fetches `piece`, with which the missing rest of the range begins.
    private func fetch(
        _ piece: ByteRange,
        of range: RangeProgress,
        _ object: PinnedObject,
        _ file: OpenFile,
        _ partialName: String?
    ) async -> RangeEnd {
        do {
            try await means.limiter.acquire(bytes: piece.length)
        } catch {
            return .failed(range.index, .other(.cancelled))
        }
        defer { means.limiter.release(bytes: piece.length) }
        if let gate, !gate.begin(piece.length) {
            // The others go on until little is under way; then all of them end together.
            await gate.untilDrained()
            return .failed(range.index, .other(.cancelled))
        }
        let checkpoints = LatestValue<Checkpoint>()
        let (transfer, gate) = (transfer, gate)
        let never = Int64.max
        let hasCheckpoint = partialName != nil
        let sink = FileSink(
            descriptor: file.descriptor,
            fileOffset: piece.offset,
            expectedLength: piece.length,
            initialChecksum: range.checksum,
            checkpointInterval: hasCheckpoint ? means.limits.checkpointInterval : never,
            maximumUnacknowledged: hasCheckpoint ? means.limits.maximumUncheckpointed : never,
            onCheckpoint: { checkpoints.offer(Checkpoint(received: $0, checksum: $1)) },
            onProgress: { bytes in
                transfer.add(bytes)
                gate?.receive(bytes)
            }
        )
        async let failure = save(checkpoints, of: range, sink, partialName)
        let started = means.environment.monotonic()
        let end = await get(piece, of: range, object, sink)
        gate?.end(
            missing: piece.length - sink.received,
            of: piece.length,
            after: means.environment.monotonic() - started
        )
        checkpoints.finish()
        if let failure = await failure { return .failed(range.index, .other(failure)) }
        return end
    }

    private func get(
        _ piece: ByteRange,
        of range: RangeProgress,
        _ object: PinnedObject,
        _ sink: FileSink
    ) async -> RangeEnd {
        let request = GetRequest(
            key: means.objectKey(key),
            range: piece,
            ifMatch: object.etag,
            versionID: nil,
            totalSize: object.size
        )
        do {
            let metadata = try await means.store.get(request, into: sink)
            return .finished(range.index, sink.checksum, metadata)
        } catch {
            if error.isNotFound { return .failed(range.index, .vanished) }
            if error.isPreconditionFailed || error.isRangeNotSatisfiable {
                return .failed(range.index, .objectChanged)
            }
            if case .localIO(let errno, let call) = error.kind {
                return .failed(range.index, failure(of: call, errno, neededBytes: piece.length))
            }
            return .failed(range.index, .other(ItemFailure(error)))
        }
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
        let failure = ItemFailure(means.directory.explained(error, neededBytes: neededBytes))
        return error.isMediaFailure ? .disk(failure) : .other(failure)
    }

    /// Writes the checkpoints of one stream as they come and tells the sink that they are safe.
    private func save(
        _ checkpoints: LatestValue<Checkpoint>,
        of range: RangeProgress,
        _ sink: FileSink,
        _ partialName: String?
    ) async -> ItemFailure? {
        var failure: ItemFailure?
        while let checkpoint = await checkpoints.next() {
            guard let partialName else { continue }
            do {
                try await means.records.saveRange(
                    key,
                    RangeCheckpoint(
                        index: range.index,
                        offset: range.range.offset,
                        length: range.range.length,
                        received: range.received + checkpoint.received,
                        checksum: checkpoint.checksum,
                        bootID: means.directory.bootID
                    ),
                    partialName: partialName
                )
            } catch {
                failure = error
            }
            // Also after a failure: the sink must not wait for what will not come.
            sink.acknowledge(upTo: checkpoint.received)
        }
        return failure
    }
}
