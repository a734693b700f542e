internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

/// One verified partial file on its way to its name.
struct PendingPublication: Sendable {
    let publication: Publication
    let key: ObjectKey
    let action: ItemAction
    let object: PinnedObject
    /// What the listing said of the object.
    let listedSize: Int64
    let checksum: CRC64?
    /// Of the bytes received, where nothing proves them.
    var received: CRC64?
    let lastModified: Timestamp?
    let storageClass: StorageClass
    var isThroughLink = false
    /// Of the object before, where the file's permissions were changed here since: it keeps those,
    /// and a push has yet to send them.
    var unsentMode: UInt32?
    let transfer: TransferCounter?
    /// True if the manifest knows the partial file, so that a kill costs nothing of it.
    var hasCheckpoint: Bool

    /// The whole file as one finished range; nil if its content is unknown.
    func checkpoint(bootID: String) -> DownloadCheckpoint? {
        guard action == .download, object.size > 0, let checksum else { return nil }
        return DownloadCheckpoint(
            key: key,
            size: object.size,
            etag: object.etag,
            crc64: object.crc64,
            partialName: publication.partialName,
            rangeSize: object.size,
            ranges: [
                RangeProgress(
                    index: 0,
                    range: ByteRange(offset: 0, length: object.size),
                    received: object.size,
                    checksum: checksum,
                    bootID: bootID
                )
            ]
        )
    }
}

/// Gives finished downloads their names, in groups: ten thousand small files cost tens of syncs.
///
/// 1. `submit` collects verified partial files until a group is full or ``groupInterval`` is over.
/// 2. `MirrorDirectory.publish` syncs their contents, renames them, and syncs the names.
/// 3. One transaction records them: the manifest never claims what a power cut may take.
///
/// A file that can't be published fails alone. If the disk can't be synced, the whole group fails.
///
/// Not guaranteed: names in the order in which downloads finished. After a kill between the steps
/// 2 and 3 the next run compares the files by content and records them then.
actor PublicationQueue {
    static let groupInterval = Duration.seconds(1)

    let context: RunContext
    /// The number is the bytes that are still to be moved.
    let onFailure: @Sendable (ObjectKey, ItemAction, Int64, ItemFailure) -> Void
    let queue: BlockingQueue
    private var pending: [PendingPublication] = []
    /// Bytes of the pending files that a kill would cost.
    private var uncheckpointedBytes: Int64 = 0
    /// Rows to record once the files are durable.
    var rows: [Row] = []
    /// What was fetched of new files that nothing proves and whose time is that of this moment.
    private(set) var unproven: [FetchedContent] = []
    /// How many intervals have gone by since they were last recorded.
    var intervals = 0
    private let turn = SingleFlight()

    /// A file in its place, with what the manifest is to learn of it.
    struct Published: Sendable {
        let item: PendingPublication
        let keptAs: RelativePath?
        let changes: [ManifestChange]
    }

    init(
        context: RunContext,
        onFailure: @escaping @Sendable (ObjectKey, ItemAction, Int64, ItemFailure) -> Void
    ) {
        self.context = context
        self.onFailure = onFailure
        queue = BlockingQueue(
            label: "osssync.publish",
            width: 1,
            threads: context.environment.threads
        )
    }

    /// Adds a file to the group; a full group is published before this returns.
    func submit(_ publication: PendingPublication) async {
        pending.append(publication)
        if !publication.hasCheckpoint { uncheckpointedBytes += publication.object.size }
        if pending.count >= context.limits.publicationGroup {
            await flush()
        } else if uncheckpointedBytes >= context.limits.transfer.maximumUncheckpointed {
            await checkpoint()
        }
    }

    /// Records the pending files that nothing knows of yet.
    ///
    /// Each was too small for a checkpoint of its own. Together they are not: on a fast line a
    /// second's worth of them is more than a kill may cost.
    private func checkpoint() async {
        uncheckpointedBytes = 0
        let bootID = context.directory.bootID
        var checkpoints: [DownloadCheckpoint] = []
        for index in pending.indices where !pending[index].hasCheckpoint {
            guard let checkpoint = pending[index].checkpoint(bootID: bootID) else { continue }
            checkpoints.append(checkpoint)
            pending[index].hasCheckpoint = true
        }
        // Without the rows a kill only costs more work; the manifest's next call reports the error.
        try? await context.manifest.record(checkpoints.map { .beginDownload($0) })
    }

    /// Publishes each interval what has gathered, until the task is cancelled.
    func publishRegularly() async {
        while !Task.isCancelled {
            do {
                try await context.environment.sleep(Self.groupInterval)
            } catch {
                return
            }
            await flush()
            await recordOldRows()
        }
    }

    /// Publishes everything that was submitted.
    func flush() async {
        await beginTurn()
        defer { endTurn() }
        let group = pending
        pending = []
        uncheckpointedBytes = 0
        if !group.isEmpty { await publish(group) }
    }

    /// The same, and records what waits.
    func finish() async {
        await flush()
        await recordRows()
        tellRefusals()
    }

    /// Waits until no other task publishes or records.
    func beginTurn() async {
        while !turn.begin() { await turn.ended() }
    }

    func endTurn() { turn.end() }

    private func publish(_ group: [PendingPublication]) async {
        let start = context.environment.now()
        let outcomes: [PublicationOutcome]
        let permissions: [UInt32?]
        do {
            (outcomes, permissions) = try await publishOpening(group.map(\.publication))
            tellRefusals()
        } catch {
            for item in group {
                await discard(item, dropsCheckpoint: error.isMediaFailure)
                fail(item, ItemFailure(error))
            }
            return
        }
        var published: [Published] = []
        for ((item, outcome), mode) in zip(zip(group, outcomes), permissions) {
            switch outcome {
            case .published(let identity, let keptAs):
                let row = entry(item, identity, mode, since: start)
                note(item, row, identity)
                var changes: [ManifestChange] = [.upsert(row)]
                if item.hasCheckpoint { changes.append(.finishDownload(item.key)) }
                published.append(Published(item: item, keptAs: keptAs, changes: changes))
            case .failed(let error):
                let isTaken = if case .nameTaken = error { true } else { false }
                if isTaken { await FoldedNames.record(in: context.manifest) }
                let isRefused = if case .nameRefused = error { true } else { false }
                await discard(
                    item,
                    dropsCheckpoint: error.isMediaFailure || isTaken || isRefused
                )
                fail(item, ItemFailure(ofChange: error))
            }
        }
        do {
            try await context.manifest.record(published.flatMap(\.changes))
        } catch {
            // The files are there and verified; the next run adopts them by their content.
            for file in published { fail(file.item, ItemFailure(error)) }
            return
        }
        for file in published { succeed(file.item, file.keptAs) }
    }

    /// The same again for those whose directory a run of another shard has closed meanwhile.
    private func publishOpening(
        _ group: [Publication]
    ) async throws(LocalError) -> (outcomes: [PublicationOutcome], permissions: [UInt32?]) {
        var (outcomes, permissions) = try await publish(group)
        for _ in 0..<ClosedDirectories.attempts {
            var refused: [Int] = []
            for (index, outcome) in outcomes.enumerated() {
                guard case .failed(let error) = outcome, error.isAccessDenied,
                    await context.closed.open(above: group[index].path)
                else { continue }
                refused.append(index)
            }
            guard !refused.isEmpty else { break }
            let again = try await publish(refused.map { group[$0] })
            for (place, index) in refused.enumerated() {
                outcomes[index] = again.outcomes[place]
                permissions[index] = again.permissions[place]
            }
        }
        return (outcomes, permissions)
    }

    private func publish(
        _ publications: [Publication]
    ) async throws(LocalError) -> (outcomes: [PublicationOutcome], permissions: [UInt32?]) {
        let directory = context.directory
        let durability: PublicationDurability =
            directory.disk.hasFailedToSynchronize ? .synchronizedTwice : .synchronized
        return try await queue.run { () throws(LocalError) in
            try directory.requireLock()
            return try directory.publishing(publications, durability: durability)
        }
    }

    /// Says once what this disk does not do.
    private func tellRefusals() {
        for refusal in context.directory.disk.takeRefusals() {
            context.emit(.warning(message: refusal.message))
        }
    }

    /// Makes the disk hold everything, and then the manifest learn of it.
    func recordDurably(_ changes: [ManifestChange]) async throws {
        let directory = context.directory
        try await queue.run { () throws(LocalError) in try directory.disk.synchronize() }
        try await context.manifest.record(changes)
    }

    /// Removes the partial file of an item that was not published, unless the next run can resume
    /// it.
    ///
    /// For a file whose name is taken there is no next run, and after a failure of the disk it is
    /// never so: a page that could not be written is clean for the system, and reading it back
    /// proves nothing.
    private func discard(_ item: PendingPublication, dropsCheckpoint: Bool) async {
        if item.hasCheckpoint {
            guard dropsCheckpoint else { return }
            // A row that stays finds no file, and the next run starts over.
            try? await context.manifest.record(.finishDownload(item.key))
        }
        await context.removePartial(item.publication.partialName)
    }

    /// Keeps the checksum of a file that the next run checks again and could not verify otherwise.
    private func note(
        _ item: PendingPublication,
        _ row: ManifestEntry,
        _ identity: FileIdentity
    ) {
        guard row.crc64 == nil, let received = item.received,
            row.localModified != identity.modified
        else { return }
        unproven.append(
            FetchedContent(key: row.key, size: row.size, etag: row.etag, crc64: received)
        )
    }

    private func entry(
        _ item: PendingPublication,
        _ identity: FileIdentity,
        _ permissions: UInt32?,
        since start: Timestamp
    ) -> ManifestEntry {
        let isLink = item.publication.path.isLink
        var row = ManifestEntry(
            key: item.key,
            size: item.object.size,
            etag: item.object.etag,
            crc64: item.checksum,
            lastModified: item.lastModified,
            storageClass: item.storageClass,
            localModified: RecordedTime.of(
                identity,
                since: start,
                now: context.environment.now(),
                comparesChange: false
            ),
            inode: identity.inode,
            isThroughLink: item.isThroughLink,
            isLink: isLink,
            changed: identity.recordedChange,
            mode: isLink ? nil : item.unsentMode ?? permissions
        )
        row.isFetched = true
        return row
    }

    private func fail(_ item: PendingPublication, _ failure: ItemFailure) {
        end(item, isFailed: true)
        onFailure(item.key, item.action, item.object.size, failure)
    }

    private func end(_ item: PendingPublication, isFailed: Bool = false) {
        if let transfer = item.transfer {
            context.tracker.end(transfer, isFailed: isFailed)
        } else if isFailed {
            context.tracker.abandonedItem(bytes: item.object.size)
        } else {
            context.tracker.finishedItem(bytes: item.object.size)
        }
    }

    /// What was fetched is as the store sent it; that both sides are equal now is not known.
    private func noteSize(_ item: PendingPublication) {
        guard item.object.size != item.listedSize else { return }
        context.tracker.count { $0.unlistedSizes += 1 }
        context.emit(
            .warning(
                message: "'\(item.key.display)': the listing has \(item.listedSize) bytes and the "
                    + "object that was downloaded \(item.object.size); the next run checks it again"
            )
        )
    }

    private func succeed(_ item: PendingPublication, _ keptAs: RelativePath?) {
        end(item)
        context.tracker.count { summary in
            if item.action == .copyLocal {
                summary.renamed += 1
            } else {
                summary.countTransfer(of: item.key)
            }
        }
        noteSize(item)
        context.store.failures.stored()
        context.doneItem(
            item.action,
            item.key,
            size: item.object.size,
            item.transfer,
            replaced: item.publication.replaced,
            keptAs: keptAs
        )
    }
}

extension Publication {
    /// What became of a file that had the name; nil if there was none.
    fileprivate var replaced: LostVersion? {
        guard expected != .absent else { return nil }
        if case .moveToTrash(let run) = backup {
            let tree = TrashOfRun(name: [UInt8](run.utf8))
            return tree.isOfDamage ? .damagedKept : .fileKept
        }
        return .file
    }
}
