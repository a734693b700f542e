internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel
internal import SyncPlanner

/// What all items of one run share, and where they leave their results.
///
/// 1. `transfer` is what a transfer needs: the store, the directory, checkpoints and limits.
/// 2. The other properties are what only a run has: its manifest, options, filter and clocks.
/// 3. Results go to `tracker` (counts), `journal` (items worth keeping) and, through `ItemReports`,
///    to `RunLedger`, which decides whether the run stops and whether deletions are allowed.
///
/// Not guaranteed: a complete journal. It is written about once a second and keeps only the first
/// items of a run in which very many fail.
final class RunContext: Sendable {
    let transfer: TransferContext
    let manifest: ManifestStore
    /// By what the uploads of this directory's runs are known.
    let uploads: OwnUploads
    let emit: @Sendable (SyncEvent) -> Void
    let limits: RunLimits
    let tracker: ProgressTracker
    let journal: RunJournal
    let options: RunOptions
    /// What the run is limited to.
    let paths: RunPaths
    let run: RunID
    /// See ``MirrorSession/trashMark(_:)``.
    let remoteTrashMark: String
    let clocks: RunClocks
    /// True if an earlier run met two keys that are one name on this disk: a new key's name is
    /// looked for before its content is fetched.
    let looksForFoldedNames: Bool
    /// False where inode numbers do not last.
    let judgesInodes: Bool
    /// False if the directory is not as the last run left it.
    let knowsDirectory: Bool
    /// See ``DecisionPolicy/ordinaryDirectory``.
    let ordinaryDirectory: UInt32?
    /// What the run skips.
    let filter: FileFilter
    /// What may be written to only while a run does.
    let closed: ClosedDirectories
    /// What there was when the run began.
    let earlier: EarlierRows
    let damaged: DamagedRows
    /// False if nothing can be written into the directory.
    let canFetch: Bool
    /// What a run of a shard leaves for the end of its round; nil for a mirror that is not cut.
    let shard: ShardOutcome?
    /// False beside runs of other shards, which have the trash in common.
    let mayEmptyTrash: Bool

    init(
        transfer: TransferContext,
        manifest: ManifestStore,
        uploads: OwnUploads,
        emit: @escaping @Sendable (SyncEvent) -> Void,
        limits: RunLimits,
        tracker: ProgressTracker,
        journal: RunJournal,
        options: RunOptions,
        paths: RunPaths,
        run: RunID,
        remoteTrashMark: String,
        clocks: RunClocks,
        looksForFoldedNames: Bool,
        judgesInodes: Bool,
        knowsDirectory: Bool,
        ordinaryDirectory: UInt32?,
        filter: FileFilter,
        closed: ClosedDirectories,
        earlier: EarlierRows,
        damaged: DamagedRows,
        canFetch: Bool,
        shard: ShardOutcome?,
        mayEmptyTrash: Bool
    ) {
        self.transfer = transfer
        self.manifest = manifest
        self.uploads = uploads
        self.emit = emit
        self.limits = limits
        self.tracker = tracker
        self.journal = journal
        self.options = options
        self.paths = paths
        self.run = run
        self.remoteTrashMark = remoteTrashMark
        self.clocks = clocks
        self.looksForFoldedNames = looksForFoldedNames
        self.judgesInodes = judgesInodes
        self.knowsDirectory = knowsDirectory
        self.ordinaryDirectory = ordinaryDirectory
        self.filter = filter
        self.closed = closed
        self.earlier = earlier
        self.damaged = damaged
        self.canFetch = canFetch
        self.shard = shard
        self.mayEmptyTrash = mayEmptyTrash
    }

    var store: LimitedStore { transfer.store }
    var prefix: ObjectKey { transfer.prefix }
    var directory: MirrorDirectory { transfer.directory }
    var environment: EngineEnvironment { transfer.environment }
    var disk: BlockingQueue { transfer.disk }
    var hashing: BlockingQueue { transfer.hashing }

    /// Where this run's removed files go; with the time, by which a later run knows their age, and
    /// because a rebuilt manifest counts its runs from 1 again.
    var trashName: String {
        TrashOfRun.name(
            stamp: clocks.stamp,
            number: run.value,
            isOfShard: shard != nil
        )
    }

    /// Where damaged files go that good content replaces: as what a restoration replaced, which no
    /// undo brings back.
    var damagedTrashName: String {
        TrashOfRun.nameOfRestoration(stamp: clocks.stamp)
    }

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
        item(action, state, key, size: size, message: message, requestID: requestID)
    }

    /// Reports a deletion, and whether a trash has what was deleted.
    func deleted(_ action: ItemAction, _ key: ObjectKey, size: Int64, isKept: Bool) {
        journal.add(action, .done, key, isKept ? nil : LostVersion.deleted.rawValue)
        item(action, .done, key, size: size)
    }

    /// Reports a file that has another name now.
    func renamed(_ old: ObjectKey, to key: ObjectKey, size: Int64) {
        let rename = RenamedFile(from: old)
        journal.add(.copyLocal, .done, key, rename.message)
        item(.copyLocal, .done, key, size: size, message: rename.sentence)
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
        } else {
            journal.addTransfer(action, key, replaced)
        }
        item(
            action,
            .done,
            key,
            size: size,
            transferred: transfer?.bytesMoved ?? 0,
            resumed: transfer?.bytesResumed ?? 0,
            message: kept,
            keptAs: keptAs?.text
        )
    }

    func item(
        _ action: ItemAction,
        _ state: ItemState,
        _ key: ObjectKey,
        size: Int64,
        transferred: Int64 = 0,
        resumed: Int64 = 0,
        message: String? = nil,
        requestID: String? = nil,
        keptAs: String? = nil
    ) {
        var event = ItemEvent(
            action: action,
            state: state,
            key: key.text,
            displayKey: key.display,
            size: size,
            bytesTransferred: transferred,
            bytesResumed: resumed,
            message: message,
            requestID: requestID
        )
        event.keptAs = keptAs
        emit(.item(event))
    }

    /// Reports a name that no run mirrors.
    func neverMirrored(_ key: ObjectKey, message: String, size: Int64 = 0) {
        var event = ItemEvent(
            action: .skip,
            state: .skipped,
            key: key.text,
            displayKey: key.display,
            size: size,
            bytesTransferred: 0,
            bytesResumed: 0,
            message: message,
            requestID: nil
        )
        event.isNeverMirrored = true
        emit(.item(event))
    }
}
