package import LocalStorage
package import ObjectStorage
package import SyncModel

/// A verified object in a partial file, ready to be published.
package struct FinishedDownload: Sendable {
    package let partialName: String
    /// Set where the partial file has everything but its name.
    package let ready: ReadyPartial?
    package let object: PinnedObject
    /// Of the bytes received; nil where the store had nothing to hold them against.
    package let checksum: CRC64?
    /// Of the bytes received, proven or not.
    package let received: CRC64
    /// What the file's mtime becomes; nil if the object has none.
    package let modified: Timestamp?
    /// The permissions that a new file gets; nil if the object has none.
    package var permissions: GivenPermissions? { FileMode.of(metadata).map { .ofObject($0) } }
    package let lastModified: Timestamp?
    /// True if the row of a checkpoint must be dropped with the publication.
    package let hasCheckpoint: Bool
    /// Of the version that was fetched; nil if no answer told it.
    package let metadata: ObjectMetadata?
}

/// Fetches one object into a partial file; ``DownloadState`` decides, this carries it out.
///
/// 1. `begin` continues from a checkpoint that still fits the object, or starts at the first byte.
///    ``UnlistedDownload`` begins with an object that nothing told of.
/// 2. `fetch` requests ranges with `If-Match`, several at once; a checkpoint says how far each is.
///    A small object is held in memory and written when it is whole.
/// 3. The checksums of the ranges are combined and compared with what the store says of the object.
///
/// If the object is replaced on the way, it starts over with the new version, a few times.
///
/// Not guaranteed: that the file is durable or has its name; `MirrorDirectory.publish` does both.
/// A store that says nothing of an object's content leaves only its length to compare.
package struct Downloader: Sendable {
    var ranges: RangeFetcher

    var context: TransferContext { ranges.context }
    var key: ObjectKey { ranges.key }
    var transfer: TransferCounter { ranges.transfer }

    package init(
        context: TransferContext,
        key: ObjectKey,
        transfer: TransferCounter,
        gate: PauseGate? = nil
    ) {
        ranges = RangeFetcher(context: context, key: key, transfer: transfer, gate: gate)
    }

    /// What the shell knows beside the machine.
    struct Attempt {
        var object: PinnedObject
        var effects: [DownloadState.Effect] = []
        var partial: (name: String, file: OpenFile)?
        /// A small object, which has no partial file before it is whole.
        var body: FileSink?
        /// What it will take on the disk.
        var room: ClaimedRoom?
        var ready: ReadyPartial?
        /// The time that the listing had of the object.
        var listedTime: Timestamp?
        var hasCheckpoint = false
        /// What the store said of the object before the first byte, if it was asked.
        var opened: ObjectMetadata?
        var metadata: ObjectMetadata?
        var proving = Proving()
        /// The CRC-64 of what came and was not what the store says of the object.
        var mismatchedChecksum: CRC64?
        /// False once a file was taken of which the store proved no more than the size.
        var isProven = true
        var result: Result<FinishedDownload, ItemFailure>?
    }

    /// Fetches the object into a partial file.
    ///
    /// - Throws: Why it could not be; a checkpoint is kept where the next run can go on from it.
    package func run(_ object: RemoteObject) async throws(ItemFailure) -> FinishedDownload {
        let pinned = PinnedObject(etag: object.etag, size: object.size, crc64: nil)
        var state = DownloadState(
            rangeSize: context.partSize,
            streamLimit: context.limits.streamsPerFile
        )
        var attempt = Attempt(object: pinned, listedTime: object.lastModified)
        attempt.effects = await begin(&state, &attempt)
        context.observer.began(transfer, transfer.bytesResumed > 0)
        return try await finish(&state, &attempt)
    }

    /// Runs effects and fetches until there is a result.
    func finish(
        _ state: inout DownloadState,
        _ attempt: inout Attempt
    ) async throws(ItemFailure) -> FinishedDownload {
        while attempt.result == nil {
            await runGeneration(&state, &attempt)
        }
        guard let result = attempt.result.take() else { throw .cancelled }
        return try result.get()
    }

    /// Runs effects and fetches until the end, or until every fetch under way must stop.
    ///
    /// A task group that was cancelled takes no new tasks, so each generation has its own.
    private func runGeneration(_ state: inout DownloadState, _ attempt: inout Attempt) async {
        await runAlone(&state, &attempt)
        guard attempt.result == nil else { return }
        await withTaskGroup(of: RangeEnd.self) { group in
            defer { group.cancelAll() }
            await run(&group, &state, &attempt)
        }
    }

    func run(
        _ group: inout TaskGroup<RangeEnd>,
        _ state: inout DownloadState,
        _ attempt: inout Attempt
    ) async {
        while attempt.result == nil {
            guard attempt.effects.isEmpty || waitsForDigests(attempt) else {
                let effect = attempt.effects.removeFirst()
                switch effect {
                case .fetch(let range):
                    guard let partial = attempt.partial else { continue }
                    let object = attempt.object
                    let name = attempt.hasCheckpoint ? partial.name : nil
                    group.addTask {
                        await ranges.fetch(
                            range,
                            of: object,
                            into: partial.file,
                            checkpointing: name
                        )
                    }
                case .cancelFetches:
                    group.cancelAll()
                    while await group.next() != nil {}
                    attempt.proving = Proving()
                    return
                default:
                    attempt.effects += await perform(effect, &state, &attempt)
                }
                continue
            }
            guard let end = await group.next() else {
                attempt.result = .failure(.cancelled)
                return
            }
            handle(end, &state, &attempt)
            startProving(&group, &attempt)
        }
    }

    /// Runs the effects up to the first that needs other tasks: for a small object, all of them.
    private func runAlone(_ state: inout DownloadState, _ attempt: inout Attempt) async {
        while attempt.result == nil, let effect = attempt.effects.first {
            switch effect {
            case .fetch(let range):
                guard let body = attempt.body else { return }
                attempt.effects.removeFirst()
                let end = await ranges.fetch(range, of: attempt.object, holding: body)
                handle(end, &state, &attempt)
            case .cancelFetches:
                attempt.effects.removeFirst()
                attempt.proving = Proving()
            default:
                attempt.effects.removeFirst()
                attempt.effects += await perform(effect, &state, &attempt)
            }
        }
    }

    private func handle(_ end: RangeEnd, _ state: inout DownloadState, _ attempt: inout Attempt) {
        switch end {
        case .finished(let index, let checksum, let metadata):
            let isFirst = attempt.metadata == nil
            if isFirst { attempt.metadata = metadata }
            if index == 0, attempt.body == nil, isSealed(attempt) {
                attempt.effects += state.abandon(.encrypted, keepsCheckpoint: false)
                return
            }
            // What a writer said of its object is judged when the object is whole.
            let crc64 = context.store.dialect.computesChecksum ? metadata.crc64 : nil
            if let crc64 { attempt.effects += state.learned(crc64) }
            attempt.effects += state.finishedRange(index, checksum: checksum)
            if isFirst {
                attempt.proving.asks =
                    metadata.crc64 == nil && metadata.sealed == nil && !state.ranges.isEmpty
            }
            attempt.proving.arrivals += 1
            attempt.proving.jobs += attempt.proving.progress?.arrived(index) ?? []
        case .failed(let index, let failure):
            attempt.effects += state.failedRange(index, failure)
        case .opened: break
        case .described(let metadata):
            described(metadata, state, &attempt)
        case .digested(let jobs, let isDone):
            guard isDone else {
                // It is read once more, when all of it is there.
                attempt.proving.progress = nil
                return
            }
            for job in jobs {
                guard let next = attempt.proving.progress?.finished(job) else { continue }
                attempt.proving.jobs.append(next)
            }
        }
    }
}
