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
        let checkpoint: DownloadCheckpoint?
        do {
            checkpoint = try await means.records.download(key)
        } catch {
            return state.abandon(error, keepsCheckpoint: true)
        }
        guard let checkpoint else { return state.start(shell.object) }
        do {
            if let (partial, ranges) = try await usable(checkpoint, for: shell.object) {
                shell.partial = (checkpoint.partialName, partial)
                shell.hasCheckpoint = true
                shell.object.crc64 = checkpoint.crc64
                transfer.setResumed(ranges.reduce(0) { $0 + $1.received })
                return state.resume(shell.object, ranges: ranges)
            }
            let isSame = checkpoint.etag == shell.object.etag
            means.onStartOver(isSame ? .partialUnusable : .objectChanged)
            try await drop(checkpoint.partialName)
            return state.start(shell.object)
        } catch {
            return state.abandon(ItemFailure(any: error), keepsCheckpoint: true)
        }
    }

    /// The partial file of a checkpoint and what is known to be in it; nil if it is of no use.
    private func usable(
        _ checkpoint: DownloadCheckpoint,
        for object: PinnedObject
    ) async throws -> (OpenFile, [RangeProgress])? {
        guard checkpoint.etag == object.etag, checkpoint.size == object.size,
            let partial = try await openPartial(checkpoint)
        else { return nil }
        do {
            return (partial, try await verified(checkpoint, in: partial))
        } catch let error as LocalError where error.isMediaFailure {
            // What cannot be read back is fetched again.
            return nil
        }
    }

    private func openPartial(_ checkpoint: DownloadCheckpoint) async throws -> OpenFile? {
        let directory = means.directory
        return try await means.disk.run { () throws(LocalError) in
            try directory.openPartial(checkpoint.partialName, expectedSize: checkpoint.size)
        }
    }

    /// The ranges of a checkpoint, with only those bytes that are known to be on disk.
    ///
    /// What the records do not vouch for is read back, and a range whose checksum disagrees starts
    /// over.
    private func verified(
        _ checkpoint: DownloadCheckpoint,
        in partial: OpenFile
    ) async throws -> [RangeProgress] {
        let directory = means.directory
        let identity = try partial.identity()
        let bootID = directory.bootID
        var ranges = DownloadState.cut(checkpoint.size, rangeSize: checkpoint.rangeSize)
        var sound: [RangeCheckpoint] = []
        var damagedBytes: Int64 = 0
        var isReadBack = false
        for recorded in checkpoint.ranges where ranges.indices.contains(recorded.index) {
            let range = ranges[recorded.index].range
            guard range.offset == recorded.offset, range.length == recorded.length else { continue }
            let stands = await means.records.vouches(
                for: recorded,
                of: checkpoint,
                in: identity,
                bootID: bootID
            )
            if !stands {
                isReadBack = true
                let stored = ByteRange(offset: recorded.offset, length: recorded.received)
                let found = try await means.reading { interruption in
                    try directory.checksum(of: partial, range: stored, unless: interruption)
                }
                guard found == recorded.checksum else {
                    damagedBytes += recorded.received
                    continue
                }
            }
            ranges[recorded.index].received = recorded.received
            ranges[recorded.index].checksum = recorded.checksum
            sound.append(recorded.seen(in: bootID))
        }
        if damagedBytes > 0 { means.onStartOver(.damaged(bytes: damagedBytes)) }
        // What was found wrong must not count when the next run asks, and what was found right
        // need not be read for it.
        if isReadBack {
            try await means.records.beginDownload(checkpoint.replacingRanges(with: sound))
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
            } catch {
                // The fetches that followed this effect have no file to go to.
                shell.effects = []
                return state.abandon(ItemFailure(any: error), keepsCheckpoint: false)
            }
        case .lookUp:
            return await lookUp(&state)
        case .confirm:
            return await confirm(&state, &shell)
        case .finish(let object, let checksum):
            return await finish(object, checksum, &state, &shell)
        case .fail(let failure, let keepsCheckpoint):
            await leave(shell, keepsCheckpoint: keepsCheckpoint)
            shell.result = .failure(failure)
        case .fetch, .cancelFetches:
            break
        }
        return []
    }

    /// Leaves the partial file of a failed transfer to the next run, or removes it.
    private func leave(_ shell: Shell, keepsCheckpoint: Bool) async {
        guard let partial = shell.partial else { return }
        // Without a row nobody would find the file again, and without a byte it only takes room.
        if keepsCheckpoint, shell.hasCheckpoint, transfer.bytesDone > 0 {
            // Without a seal it is read back.
            guard let identity = try? partial.file.identity() else { return }
            await means.records.sealDownload(
                key,
                identity,
                partialName: partial.name,
                bootID: means.directory.bootID
            )
        } else {
            // A partial that cannot be removed is swept by a later run.
            try? await drop(partial.name)
        }
    }

    private func makePartial(
        _ object: PinnedObject,
        _ shell: inout Shell
    ) async throws {
        if let old = shell.partial?.name {
            means.onStartOver(object.etag == shell.object.etag ? .wrongContent : .objectChanged)
            shell.partial = nil
            try await drop(old)
            transfer.startOver()
        }
        shell.object = object
        shell.metadata = nil
        let directory = means.directory
        let partial = try await means.disk.run { () throws(LocalError) in
            try directory.createPartial(size: object.size)
        }
        shell.partial = (partial.name, partial.file)
        // A file that a kill may fetch again as a whole needs no row.
        shell.hasCheckpoint = object.size > means.largestUnrecorded
        guard shell.hasCheckpoint else { return }
        try await means.records.beginDownload(
            DownloadCheckpoint(
                key: key,
                size: object.size,
                etag: object.etag,
                crc64: object.crc64,
                partialName: partial.name,
                rangeSize: means.partSize,
                ranges: []
            )
        )
    }

    private func drop(_ partialName: String) async throws {
        try await means.records.dropDownload(key)
        await means.removePartial(partialName)
    }

    private func lookUp(_ state: inout DownloadState) async -> [DownloadState.Effect] {
        do {
            let found = try await head()
            guard !isUncheckedLink(found) else { return state.lookUpFailed(Self.uncheckedLink) }
            return state.lookedUp(found?.object)
        } catch {
            return state.lookUpFailed(error)
        }
    }

    private func confirm(
        _ state: inout DownloadState,
        _ shell: inout Shell
    ) async -> [DownloadState.Effect] {
        do {
            let found = try await head()
            let isSame = found?.object.etag == shell.object.etag
            guard isSame || !isUncheckedLink(found) else {
                return state.confirmFailed(Self.uncheckedLink)
            }
            // Of another version it is forgotten again when that is begun.
            shell.metadata = found?.metadata
            return state.confirmed(found?.object)
        } catch {
            return state.confirmFailed(error)
        }
    }

    /// True for a link that took the object's place or got another target.
    ///
    /// It may lead out of the prefix, which the next listing finds out. What is fetched alone has
    /// no prefix.
    private func isUncheckedLink(
        _ found: (object: PinnedObject, metadata: ObjectMetadata)?
    ) -> Bool {
        found?.metadata.kind == .symlink && !means.prefix.isEmpty
    }

    private static let uncheckedLink = ItemFailure.storage(
        message: "the object became a link, or the link got another target, after the listing; "
            + "run again",
        requestID: nil,
        stops: nil
    )

    /// The object as it is now; nil if it is gone.
    func head() async throws(ItemFailure) -> (
        object: PinnedObject, metadata: ObjectMetadata
    )? {
        do {
            return try await means.head(key)
        } catch {
            if error == .vanished { return nil }
            throw error
        }
    }

    private func finish(
        _ object: PinnedObject,
        _ checksum: CRC64,
        _ state: inout DownloadState,
        _ shell: inout Shell
    ) async -> [DownloadState.Effect] {
        guard let partial = shell.partial else { return [] }
        // An object from before the service computed checksums has none there either.
        let isCompared = means.store.dialect.computesChecksum && object.crc64 != nil
        if !isCompared, object.size > 0 {
            do throws(ItemFailure) {
                let isTaken = try await isTaken(partial.file, object, checksum, &shell)
                guard isTaken else { return state.disproved(object) }
            } catch {
                shell.result = .failure(error)
                return []
            }
        }
        shell.result = .success(
            FinishedDownload(
                partialName: partial.name,
                object: object,
                // A row that vouches for content nobody verified would make copies that lie.
                checksum: shell.isProven ? checksum : nil,
                received: checksum,
                modified: ModificationTime.of(
                    userMetadata: shell.metadata?.userMetadata ?? [:],
                    lastModified: shell.metadata?.lastModified
                ),
                lastModified: shell.metadata?.lastModified,
                hasCheckpoint: shell.hasCheckpoint,
                metadata: shell.metadata
            )
        )
        return []
    }
}
