internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What all items of one run share, and where they leave their results.
///
/// 1. `transfer` is what a transfer needs: the store, the directory, checkpoints and limits.
/// 2. `setup` is what the run works with: its session, options and filter; the other properties are
///    what it has of its own.
/// 3. Results go to `tracker` (counts), `journal` (items worth keeping) and, through `ItemReports`,
///    to `RunLedger`, which decides whether the run stops and whether deletions are allowed.
///
/// Not guaranteed: a complete journal. It is written about once a second and keeps only the first
/// items of a run in which very many fail.
final class RunContext: RunStep {
    let setup: RunSetup
    let run: RunID
    /// What there was when the run began.
    let earlier: EarlierRows
    let transfer: TransferContext
    /// By what the uploads of this directory's runs are known.
    let uploads: OwnUploads
    let tracker: ProgressTracker
    let journal = RunJournal()
    let clocks: RunClocks
    /// What may be written to only while a run does.
    let closed: ClosedDirectories
    /// See ``MirrorSession/trashMark(_:)``.
    let remoteTrashMark: String

    init(_ setup: RunSetup, _ run: RunID, _ earlier: EarlierRows) {
        self.setup = setup
        self.run = run
        self.earlier = earlier
        let (settings, session) = (setup.settings, setup.session)
        let threads = settings.environment.threads
        let uploads = OwnUploads(
            session.manifest,
            settings.environment,
            earlier: session.cutOffRuns
        )
        self.uploads = uploads
        transfer = TransferContext(
            store: setup.store,
            prefix: settings.prefix,
            directory: session.directory,
            records: ManifestCheckpoints(manifest: session.manifest),
            hasRecords: earlier.hasTransfers,
            environment: settings.environment,
            partSize: setup.options.partSize,
            limits: settings.limits.transfer,
            largestUnrecorded: settings.limits.transfer.maximumUncheckpointed,
            disk: BlockingQueue(label: "osssync.disk", width: 4, backlog: 4, threads: threads),
            hashing: BlockingQueue(label: "osssync.hash", width: 2, threads: threads),
            observer: TransferObserver(setup.onEvent),
            uploadToken: { key, size throws(ItemFailure) in
                try await uploads.transferToken(of: key, size: size)
            }
        )
        tracker = ProgressTracker(direction: setup.direction, paths: setup.paths.texts)
        clocks = RunClocks(settings.environment)
        closed = ClosedDirectories(
            transfer,
            session.manifest,
            limit: settings.limits.waiting * 10,
            shard: settings.shard
        )
        remoteTrashMark = session.trashMark(settings.environment)
    }

    var manifest: ManifestStore { session.manifest }
    var emit: @Sendable (SyncEvent) -> Void { setup.onEvent }
    var limits: RunLimits { settings.limits }
    /// What a run of a shard leaves for the end of its round; nil for a mirror that is not cut.
    var shard: ShardOutcome? { settings.shard?.outcome }
    /// False beside runs of other shards, which have the trash in common.
    var mayEmptyTrash: Bool { settings.shard.map { $0.whole != nil } ?? true }
    var store: LimitedStore { transfer.store }
    var prefix: ObjectKey { transfer.prefix }
    var directory: MirrorDirectory { transfer.directory }
    var environment: EngineEnvironment { transfer.environment }
    var disk: BlockingQueue { transfer.disk }
    var hashing: BlockingQueue { transfer.hashing }

    /// What the store observes of this run's requests becomes its events.
    func attachSignal() {
        let (prefix, onEvent) = (settings.prefix, setup.onEvent)
        settings.storeObserver.attach(
            limiter: setup.limiter,
            clocks: clocks,
            onWarning: { onEvent(.warning(message: $0)) },
            onRetry: { onEvent(.retry(RetryEvent($0, prefix: prefix))) }
        )
    }

    /// Where this run's removed files go; with the time, by which a later run knows their age, and
    /// because a rebuilt manifest counts its runs from 1 again.
    var trashName: String {
        TrashOfRun.name(
            stamp: clocks.stamp,
            number: run.value,
            isOfShard: shard != nil
        )
    }

    /// Where damaged files go that good content replaces: no undo brings them back.
    var damagedTrashName: String { TrashOfRun.nameOfDamage(stamp: clocks.stamp) }

    /// Where this run's removed objects go; other mirrors may have a run of this number and time,
    /// too.
    var remoteTrashName: String { trashName + remoteTrashMark }

    /// Where the file or link of a key is.
    func path(of key: ObjectKey) throws(UnsafeKey) -> RelativePath {
        try RelativePath(key: key, links: options.links, names: options.names)
    }

    /// The same of one that is, or is recorded as, a link.
    func path(of entry: JoinedEntry) throws(UnsafeKey) -> RelativePath {
        guard entry.local?.isLink ?? entry.base?.isLink == true else {
            return try path(of: entry.key)
        }
        if entry.key.isOfLink { return try RelativePath(key: entry.key, links: .store) }
        // A link that is gone becomes a file.
        return entry.local == nil
            ? try path(of: entry.key) : try RelativePath(following: entry.key)
    }

    func objectKey(_ key: ObjectKey) -> ObjectKey { transfer.objectKey(key) }

    func reading<Value: Sendable>(
        _ work: @escaping @Sendable (Interruption) throws -> Value
    ) async throws -> Value {
        try await transfer.reading(work)
    }

    /// What `work` finds or does in the directory, on the queue for the disk.
    func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable (MirrorDirectory) throws(LocalError) -> Value
    ) async throws(LocalError) -> Value {
        let directory = directory
        return try await disk.run { () throws(LocalError) in try work(directory) }
    }

    func state(of path: RelativePath) async throws(LocalError) -> LocalState {
        try await onDisk { directory throws(LocalError) in try directory.identity(of: path) }
    }

    /// Makes what was written so far survive a power cut.
    func synchronize() async throws(LocalError) {
        try await onDisk { directory throws(LocalError) in try directory.disk.synchronize() }
    }

    func freeBytes() async throws(LocalError) -> Int64 {
        try await onDisk { directory throws(LocalError) in try directory.freeBytes() }
    }

    func removePartial(_ name: String) async {
        await transfer.removePartial(name)
    }

    func warn(ofUpload key: ObjectKey, _ error: StorageError) {
        transfer.warn(ofUpload: key, error)
    }

    /// Reports an item that is worth keeping in the manifest, too.
    func keptItem(
        _ action: ItemAction,
        _ state: ItemState,
        _ key: ObjectKey,
        size: Int64,
        message: String? = nil,
        requestID: String? = nil
    ) {
        journal.add(action, state, key, message)
        item(action, state, key, size: size, message: message) { $0.requestID = requestID }
    }

    /// Reports a deletion, and whether a trash has what was deleted.
    func deleted(_ action: ItemAction, _ key: ObjectKey, size: Int64, isKept: Bool) {
        journal.add(action, .done, key, isKept ? nil : LostVersion.deleted.rawValue)
        item(action, .done, key, size: size)
    }

    /// Reports a file that has another name now.
    func renamed(_ old: ObjectKey, to key: ObjectKey, size: Int64) {
        let rename = OtherName(.former, old)
        journal.add(.copyLocal, .done, key, rename.message)
        item(.copyLocal, .done, key, size: size, message: rename.sentence)
    }

    /// Reports a deleted object, which does not count as deleted if this run renamed it.
    func deletedObject(_ key: ObjectKey, size: Int64, isKept: Bool, renamedTo new: ObjectKey?) {
        guard let rename = new.map({ OtherName(.next, $0) }) else {
            tracker.count { $0.deleted += 1 }
            return deleted(.deleteRemote, key, size: size, isKept: isKept)
        }
        journal.add(.deleteRemote, .done, key, isKept ? nil : rename.message)
        item(.deleteRemote, .done, key, size: size, message: rename.sentence)
    }

    /// Reports a transfer that is done, and what it replaced.
    func doneItem(
        _ action: ItemAction,
        _ key: ObjectKey,
        size: Int64,
        _ transfer: TransferCounter? = nil,
        replaced: LostVersion? = nil,
        keptAs: RelativePath? = nil
    ) {
        let kept = keptAs.map { "the local version was kept as '\($0.display)'" }
        if let kept {
            journal.add(action, .done, key, kept)
            if let keptAs {
                journal.add(.conflict, .done, keptAs.key, "the version of '\(key.display)' here")
            }
        } else {
            journal.addTransfer(action, key, replaced)
        }
        item(action, .done, key, size: size, message: kept) { event in
            event.bytesTransferred = transfer?.bytesMoved ?? 0
            event.bytesResumed = transfer?.bytesResumed ?? 0
            event.keptAs = keptAs?.text
        }
    }

    /// Reports a step of an item; `adding` says what else is known of it.
    func item(
        _ action: ItemAction,
        _ state: ItemState,
        _ key: ObjectKey,
        size: Int64,
        message: String? = nil,
        adding: (inout ItemEvent) -> Void = { _ in }
    ) {
        let texts = key.texts
        var event = ItemEvent(
            action: action,
            state: state,
            key: texts.text,
            displayKey: texts.display,
            size: size,
            bytesTransferred: 0,
            bytesResumed: 0,
            message: message,
            requestID: nil
        )
        adding(&event)
        if state == .done, action.leavesBothEqual {
            tracker.count { $0.bytesInBoth = $0.bytesInBoth.addingClamped(size) }
        }
        emit(.item(event))
    }

    /// Reports a name that no run mirrors.
    func neverMirrored(_ key: ObjectKey, message: String, size: Int64 = 0) {
        item(.skip, .skipped, key, size: size, message: message) { $0.isNeverMirrored = true }
    }
}
