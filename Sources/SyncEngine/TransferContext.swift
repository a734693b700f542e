internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import SyncModel

/// What the items of one run share: the means of their transfers, and what only a run has.
struct TransferContext: Sendable {
    let means: TransferMeans
    let manifest: ManifestStore
    let tracker: ProgressTracker
    let journal: RunJournal
    let options: RunOptions
    let run: RunID
    let clocks: RunClocks
    /// Set if a run with fast durability was cut off by a power cut: files that changed then may be
    /// damaged.
    let doubt: Doubt?
    /// True if an earlier run met two keys that are one name on this disk: a new key's name is
    /// looked for before its content is fetched.
    let looksForFoldedNames: Bool
    /// False where inode numbers do not last.
    let judgesInodes: Bool
    /// False if the directory is not as the last run left it.
    let knowsDirectory: Bool
    /// What the run leaves alone.
    let filter: FileFilter
    /// False if nothing can be written into the directory.
    let canFetch: Bool

    var store: any ObjectStore { means.store }
    var prefix: ObjectKey { means.prefix }
    var directory: MirrorDirectory { means.directory }
    var limiter: ConnectionLimiter { means.limiter }
    var environment: EngineEnvironment { means.environment }
    var limits: EngineLimits { means.limits }
    var disk: BlockingQueue { means.disk }
    var hashing: BlockingQueue { means.hashing }
    var emit: @Sendable (SyncEvent) -> Void { means.emit }

    /// Where this run's removed files go; with the time, by which a later run knows their age, and
    /// because a rebuilt manifest counts its runs from 1 again.
    var trashName: String { "\(clocks.stamp)-run-\(run.value)" }

    func objectKey(_ key: ObjectKey) -> ObjectKey { means.objectKey(key) }

    func reading<Value: Sendable>(
        _ work: @escaping @Sendable (Interruption) throws -> Value
    ) async throws -> Value {
        try await means.reading(work)
    }

    func removePartial(_ name: String) async {
        await means.removePartial(name)
    }

    func withConnection<Value: Sendable>(
        _ request: () async throws(StorageError) -> Value
    ) async throws(ItemFailure) -> Value {
        try await means.withConnection(request)
    }

    func warn(ofUpload key: ObjectKey, _ error: StorageError) {
        means.warn(ofUpload: key, error)
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

    func item(
        _ action: ItemAction,
        _ state: ItemState,
        _ key: ObjectKey,
        size: Int64,
        transferred: Int64 = 0,
        resumed: Int64 = 0,
        message: String? = nil,
        requestID: String? = nil
    ) {
        means.item(
            action,
            state,
            key,
            size: size,
            transferred: transferred,
            resumed: resumed,
            message: message,
            requestID: requestID
        )
    }
}
