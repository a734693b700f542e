internal import LocalStorage
internal import ManifestStore
internal import SyncModel

/// One verified partial file on its way to its name.
struct PendingPublication: Sendable {
    let publication: Publication
    let key: ObjectKey
    let action: ItemAction
    let object: PinnedObject
    let checksum: CRC64?
    let lastModified: Timestamp?
    let storageClass: StorageClass
    let transfer: ProgressTracker.Transfer?
    let hasCheckpoint: Bool
}

/// Publishes finished downloads in groups: ten thousand small files cost tens of syncs.
///
/// A group is as many files as the limits say, or what gathered within ``groupInterval``. The disk
/// is made to hold the contents, then the files get their names, then the disk is made to hold the
/// names, then the manifest learns of them: it never claims what a power cut may take.
actor PublicationQueue {
    static let groupInterval = Duration.seconds(1)

    private let context: TransferContext
    private let onFailure: @Sendable (ObjectKey, ItemAction, ItemFailure) -> Void
    private let queue: BlockingQueue
    private var pending: [PendingPublication] = []
    private var isFlushing = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(
        context: TransferContext,
        onFailure: @escaping @Sendable (ObjectKey, ItemAction, ItemFailure) -> Void
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
        if pending.count >= context.limits.publicationGroup { await flush() }
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
        }
    }

    /// Publishes everything that was submitted.
    func flush() async {
        while isFlushing {
            await withCheckedContinuation { waiting.append($0) }
        }
        guard !pending.isEmpty else { return }
        isFlushing = true
        let group = pending
        pending = []
        await publish(group)
        isFlushing = false
        let resumed = waiting
        waiting = []
        for continuation in resumed { continuation.resume() }
    }

    private func publish(_ group: [PendingPublication]) async {
        let directory = context.directory
        let durability: PublicationDurability =
            context.options.durability == .full ? .synchronized : .unsynchronized
        let outcomes: [PublicationOutcome]
        do {
            outcomes = try await queue.run { () throws(LocalError) in
                try directory.publish(group.map(\.publication), durability: durability)
            }
        } catch {
            for item in group {
                await discard(item, dropsCheckpoint: error.isMediaFailure)
                fail(item, ItemFailure(error))
            }
            return
        }
        var changes: [ManifestChange] = []
        var published: [(item: PendingPublication, keptAs: RelativePath?)] = []
        for (item, outcome) in zip(group, outcomes) {
            switch outcome {
            case .published(let identity, let keptAs):
                changes.append(.upsert(Self.entry(item, identity)))
                if item.hasCheckpoint { changes.append(.finishDownload(item.key)) }
                published.append((item, keptAs))
            case .failed(let error):
                await discard(item, dropsCheckpoint: error.isMediaFailure)
                fail(item, Self.failure(error))
            }
        }
        do {
            try await context.manifest.record(changes)
        } catch {
            // The files are there and verified; the next run adopts them by their content.
            for (item, _) in published { fail(item, ItemFailure(error)) }
            return
        }
        for (item, keptAs) in published { succeed(item, keptAs) }
    }

    /// Removes the partial file of an item that was not published, unless the next run can go on
    /// from it.
    ///
    /// After a failure of the disk that is never so: a page that could not be written is clean for
    /// the system, and reading it back proves nothing.
    private func discard(_ item: PendingPublication, dropsCheckpoint: Bool) async {
        if item.hasCheckpoint {
            guard dropsCheckpoint else { return }
            // A row that stays finds no file, and the next run starts over.
            try? await context.manifest.dropDownload(item.key)
        }
        await context.removePartial(item.publication.partialName)
    }

    private static func entry(
        _ item: PendingPublication,
        _ identity: FileIdentity
    ) -> ManifestEntry {
        ManifestEntry(
            key: item.key,
            size: item.object.size,
            etag: item.object.etag,
            crc64: item.checksum,
            lastModified: item.lastModified,
            storageClass: item.storageClass,
            localModified: identity.modified,
            inode: identity.inode
        )
    }

    private static func failure(_ error: LocalError) -> ItemFailure {
        if case .targetChanged = error { .targetChanged } else { ItemFailure(error) }
    }

    private func fail(_ item: PendingPublication, _ failure: ItemFailure) {
        end(item)
        onFailure(item.key, item.action, failure)
    }

    private func end(_ item: PendingPublication) {
        if let transfer = item.transfer {
            context.tracker.end(transfer)
        } else {
            context.tracker.finishedItem(bytes: item.object.size)
        }
    }

    private func succeed(_ item: PendingPublication, _ keptAs: RelativePath?) {
        end(item)
        context.tracker.count { summary in
            if item.action == .copyLocal { summary.renamed += 1 } else { summary.transferred += 1 }
        }
        context.item(
            item.action,
            .done,
            item.key,
            size: item.object.size,
            transferred: item.transfer?.bytesMoved ?? 0,
            resumed: item.transfer?.bytesResumed ?? 0,
            message: keptAs.map { "the local version was kept as '\($0.display)'" }
        )
    }
}
