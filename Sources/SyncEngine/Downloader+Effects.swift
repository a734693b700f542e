internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

extension Downloader {
    /// The first effects: from a checkpoint that is still true, or from the first byte.
    func begin(
        _ state: inout DownloadState,
        _ shell: inout Shell
    ) async -> [DownloadState.Effect] {
        do {
            guard let checkpoint = try await context.manifest.downloadCheckpoint(key) else {
                return state.start(shell.object)
            }
            guard checkpoint.etag == shell.object.etag, checkpoint.size == shell.object.size,
                let partial = try await openPartial(checkpoint)
            else {
                try await drop(checkpoint.partialName)
                return state.start(shell.object)
            }
            let ranges = try await verified(checkpoint, in: partial)
            shell.partial = (checkpoint.partialName, partial)
            shell.hasCheckpoint = true
            shell.object.crc64 = checkpoint.crc64
            transfer.setResumed(ranges.reduce(0) { $0 + $1.received })
            return state.resume(shell.object, ranges: ranges)
        } catch let failure as ItemFailure {
            return state.start(shell.object) + state.abandon(failure, keepsCheckpoint: true)
        } catch {
            let failure = ItemFailure.manifest(message: SyncError(any: error).message)
            return state.start(shell.object) + state.abandon(failure, keepsCheckpoint: true)
        }
    }

    private func openPartial(_ checkpoint: DownloadCheckpoint) async throws -> OpenFile? {
        let directory = context.directory
        return try await context.disk.run { () throws(LocalError) in
            try directory.openPartial(checkpoint.partialName, expectedSize: checkpoint.size)
        }
    }

    /// The ranges of a checkpoint, with only those bytes that are known to be on disk.
    ///
    /// Within one boot the page cache outlives the process and the bytes stand; after another boot
    /// they are read back, and a range whose checksum disagrees starts over.
    private func verified(
        _ checkpoint: DownloadCheckpoint,
        in partial: OpenFile
    ) async throws -> [RangeProgress] {
        let directory = context.directory
        var ranges = DownloadState.cut(checkpoint.size, rangeSize: checkpoint.rangeSize)
        for recorded in checkpoint.ranges where ranges.indices.contains(recorded.index) {
            let range = ranges[recorded.index].range
            guard range.offset == recorded.offset, range.length == recorded.length else { continue }
            if recorded.bootID != directory.bootID {
                let stored = ByteRange(offset: recorded.offset, length: recorded.received)
                let found = try await context.hashing.run { () throws(LocalError) in
                    try directory.checksum(of: partial, range: stored)
                }
                guard found == recorded.checksum else { continue }
            }
            ranges[recorded.index].received = recorded.received
            ranges[recorded.index].checksum = recorded.checksum
        }
        return ranges
    }

    func perform(
        _ effect: DownloadState.Effect,
        _ state: inout DownloadState,
        _ shell: inout Shell
    ) async -> [DownloadState.Effect] {
        switch effect {
        case .begin(let object):
            do {
                try await makePartial(object, &shell)
                return []
            } catch {
                let failure =
                    error as? ItemFailure
                    ?? .local(
                        message: SyncError(any: error).message,
                        stops: nil
                    )
                // The fetches that followed this effect have no file to go to.
                shell.effects = []
                return state.abandon(failure, keepsCheckpoint: false)
            }
        case .lookUp:
            return await lookUp(&state)
        case .finish(let object, let checksum):
            await finish(object, checksum, &shell)
        case .fail(let failure, let keepsCheckpoint):
            if !keepsCheckpoint, let name = shell.partial?.name {
                // A partial that cannot be removed is swept by a later run.
                try? await drop(name)
            }
            shell.result = .failure(failure)
        case .fetch, .cancelFetches:
            break
        }
        return []
    }

    private func makePartial(
        _ object: PinnedObject,
        _ shell: inout Shell
    ) async throws {
        if let old = shell.partial?.name {
            shell.partial = nil
            try await drop(old)
            transfer.startOver()
        }
        shell.object = object
        shell.metadata = nil
        let directory = context.directory
        let partial = try await context.disk.run { () throws(LocalError) in
            try directory.createPartial(size: object.size)
        }
        shell.partial = (partial.name, partial.file)
        // A file that a kill may fetch again as a whole needs no row.
        shell.hasCheckpoint = object.size > TransferContext.maximumUncheckpointed
        guard shell.hasCheckpoint else { return }
        try await context.manifest.beginDownload(
            DownloadCheckpoint(
                key: key,
                size: object.size,
                etag: object.etag,
                crc64: object.crc64,
                partialName: partial.name,
                rangeSize: context.options.partSize,
                ranges: []
            )
        )
    }

    private func drop(_ partialName: String) async throws {
        try await context.manifest.dropDownload(key)
        let directory = context.directory
        try await context.disk.run { () throws(LocalError) in
            try directory.removePartial(partialName)
        }
    }

    private func lookUp(_ state: inout DownloadState) async -> [DownloadState.Effect] {
        let store = context.store
        let objectKey = context.objectKey(key)
        do {
            let metadata = try await context.withConnection { () throws(StorageError) in
                try await store.head(objectKey, versionID: nil)
            }
            guard let etag = metadata.etag else {
                return state.lookUpFailed(
                    .storage(
                        message: "the service gave no ETag for the object",
                        requestID: metadata.requestID,
                        stops: nil
                    )
                )
            }
            return state.lookedUp(
                PinnedObject(etag: etag, size: metadata.size, crc64: metadata.crc64)
            )
        } catch {
            if error == .vanished { return state.lookedUp(nil) }
            return state.lookUpFailed(error)
        }
    }

    private func finish(
        _ object: PinnedObject,
        _ checksum: CRC64,
        _ shell: inout Shell
    ) async {
        guard let partial = shell.partial else { return }
        var metadata = shell.metadata
        if metadata == nil {
            // Everything came from the checkpoint, or there was nothing to fetch: the headers are
            // still to be asked for, and with them whether the object is still this version.
            let store = context.store
            let objectKey = context.objectKey(key)
            do {
                metadata = try await context.withConnection { () throws(StorageError) in
                    try await store.head(objectKey, versionID: nil)
                }
            } catch {
                shell.result = .failure(error)
                return
            }
        }
        shell.result = .success(
            FinishedDownload(
                partialName: partial.name,
                object: object,
                checksum: checksum,
                modified: ModificationTime.of(
                    userMetadata: metadata?.userMetadata ?? [:],
                    lastModified: metadata?.lastModified
                ),
                lastModified: metadata?.lastModified,
                hasCheckpoint: shell.hasCheckpoint
            )
        )
    }
}
