internal import ObjectStorage
package import SyncModel

/// The download of an object that no listing told of.
///
/// None begins with a HEAD: a checkpoint names the version, and otherwise the answer to the request
/// for the first range tells it.
package struct UnlistedDownload: Sendable {
    private let key: ObjectKey
    private let context: TransferContext
    private let gate: PauseGate

    package init(key: ObjectKey, context: TransferContext, gate: PauseGate) {
        self.key = key
        self.context = context
        self.gate = gate
    }

    private func downloader(_ size: Int64) -> Downloader {
        let transfer = TransferCounter(.download, key: key, size: size)
        return Downloader(context: context, key: key, transfer: transfer, gate: gate)
    }

    /// Fetches an object from its checkpoint, if there is one that is of use, or from its first
    /// byte.
    ///
    /// - Throws: As ``Downloader/run(_:)``.
    package func run() async throws(ItemFailure) -> FinishedDownload {
        do throws(ItemFailure) {
            if let finished = try await fetchRanges() { return finished }
        } catch {
            guard case .storage(_, _, _, .rangesIgnored) = error else { throw error }
            // What came of ranges before is of no use.
            if let checkpoint = try await context.records.download(key) {
                try await context.records.dropDownload(key)
                await context.removePartial(checkpoint.partialName)
            }
        }
        switch await open(length: nil) {
        case .ended(let result): return try result.get()
        case .empty, .unnamed: throw .keepsChanging(times: 1, nil)
        }
    }

    /// Fetches an object by ranges; nil if nothing but all of it can be asked for.
    private func fetchRanges() async throws(ItemFailure) -> FinishedDownload? {
        if let checkpoint = try await context.records.download(key),
            let resumed = try await downloader(checkpoint.size).resumed(checkpoint)
        {
            return resumed
        }
        let length = context.limits.firstRequestLength(rangeSize: context.partSize)
        switch await open(length: length) {
        case .ended(let result): return try result.get()
        case .empty:
            let found = try await context.head(key, isInOneGo: true)
            let downloader = self.downloader(found.object.size)
            var (state, attempt) = downloader.start(found)
            return try await downloader.finish(&state, &attempt)
        case .unnamed: return nil
        }
    }

    private enum Opened {
        case ended(Result<FinishedDownload, ItemFailure>)
        /// The object has no first byte.
        case empty
        /// It has more bytes than the answer, and no request can name its version.
        case unnamed
    }

    /// Asks for the first `length` bytes, or for all, and fetches what is missing then.
    private func open(length: Int64?) async -> Opened {
        await withTaskGroup(of: RangeEnd.self) { group in
            defer { group.cancelAll() }
            let opening = ObjectOpening()
            let start = context.environment.monotonic()
            group.addTask {
                let request = ObjectOpening.request(context.objectKey(key), length: length)
                await opening.send(request, to: context.store)
                return .opened
            }
            do throws(StorageError) {
                let opened = try await opening.opened()
                do throws(ItemFailure) {
                    let object = try context.pinned(opened.metadata, isInOneGo: true)
                    var downloader = self.downloader(object.size)
                    let isInOneGo = opened.ignoresRanges || object.etag.isWeak
                    downloader.ranges.opening = opening
                    downloader.ranges.isInOneGo = isInOneGo
                    if !isInOneGo {
                        downloader.ranges.leading = LeadingRanges(
                            opened.range,
                            of: opened.metadata,
                            rangeSize: DownloadState.rangeLength(
                                object.size,
                                rangeSize: context.partSize
                            ),
                            answeredIn: context.environment.monotonic() - start
                        )
                    }
                    guard !isInOneGo || opened.range.length == object.size else {
                        return .unnamed
                    }
                    return .ended(.success(try await downloader.run(object, opened, &group)))
                } catch {
                    return .ended(.failure(error))
                }
            } catch {
                return error.isRangeNotSatisfiable ? .empty : .ended(.failure(ItemFailure(error)))
            }
        }
    }
}

extension Downloader {
    fileprivate func resumed(
        _ checkpoint: DownloadCheckpoint
    ) async throws(ItemFailure) -> FinishedDownload? {
        let object = PinnedObject(
            etag: checkpoint.etag,
            size: checkpoint.size,
            crc64: checkpoint.crc64
        )
        var (state, attempt) = (state(of: object), Attempt(object: object))
        do {
            guard let effects = try await resume(checkpoint, &state, &attempt) else { return nil }
            attempt.effects = effects
        } catch {
            throw ItemFailure(ofTransfer: error)
        }
        context.observer.began(transfer, transfer.bytesResumed > 0)
        return try await finish(&state, &attempt)
    }

    fileprivate func run(
        _ object: PinnedObject,
        _ opened: OpenedObject,
        _ group: inout TaskGroup<RangeEnd>
    ) async throws(ItemFailure) -> FinishedDownload {
        if ranges.isInOneGo {
            let what =
                if opened.metadata.etag == nil {
                    "gives no ETag"
                } else {
                    opened.ignoresRanges ? "sends only whole objects" : "gives a weak ETag only"
                }
            context.observer.warned(
                "'\(key.display)': the server \(what), so a download that is interrupted starts "
                    + "over"
            )
        }
        var (state, attempt) = start((object, opened.metadata))
        await run(&group, &state, &attempt)
        return try await finish(&state, &attempt)
    }

    fileprivate func start(
        _ found: (object: PinnedObject, metadata: ObjectMetadata)
    ) -> (DownloadState, Attempt) {
        var state = state(of: found.object)
        var attempt = Attempt(object: found.object, listedTime: found.metadata.lastModified)
        attempt.opened = found.metadata
        attempt.effects = state.start(found.object)
        context.observer.began(transfer, false)
        return (state, attempt)
    }

    private func state(of object: PinnedObject) -> DownloadState {
        DownloadState(
            rangeSize: ranges.isInOneGo ? max(1, object.size) : context.partSize,
            streamLimit: context.limits.streamsPerFile
        )
    }
}
