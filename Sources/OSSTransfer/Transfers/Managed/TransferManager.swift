internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

/// Many downloads and uploads, a few at once, which the app knows by IDs of its own.
///
/// ```swift
/// let manager = try await TransferManager(directory: "transfers") { id in
///     .download(try .presigned(await askMyServer(for: id)), to: id)
/// }
/// try await manager.add("film.mov")
/// try await manager.start("film.mov")
/// try await manager.runUntilIdle()
/// ```
///
/// Transfers move while a task is in ``run()`` or ``runUntilIdle()``; every other call may come
/// from any task at any time. The directory holds the state of each transfer after each change, so
/// that the next process resumes where this one ended, even if it was killed: what ran or waited
/// waits, what was paused or failed stays so, and what finished stays finished until
/// ``remove(_:)``. Secrets are not stored; the provider is asked for them again.
public actor TransferManager {
    /// Returns what a transfer moves; called before it runs or is cancelled if this process does
    /// not know yet.
    public typealias Provider = @Sendable (_ id: String) async throws -> TransferJob

    /// What was last asked for a transfer, beside what it does.
    enum Wanted {
        /// Nothing, or what was asked for is done.
        case nothing
        case running
        case paused
        /// Also of an earlier process, which had no time for it.
        case cancelled
        case forgotten
    }

    struct Entry {
        let number: Int64
        var transfer: ManagedTransfer
        /// The one path of a download's file.
        var file: String?
        var wanted = Wanted.nothing
        var job: TransferJob?
        /// True if the provider returned the job, and can return it again.
        var isAsked = false
        let mailbox: ListenerMailbox
        /// While the provider is asked.
        var question: AbandonableCall<TransferJob>?
        /// While it runs.
        var work: ManagedWork?
        /// Resumed when it does not run any more.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    /// Where the records are.
    public nonisolated let directory: String
    /// Transfers that run at once.
    public nonisolated let limit: Int
    nonisolated let broadcaster = EventBroadcaster()
    let provider: Provider
    let providerLimit: Duration
    let environment = SystemClocks.engine(hostName: "")
    let index: TransferIndex
    let disk: BlockingQueue
    var entries: [ObjectKey: Entry] = [:]
    /// Those that are being added, and are written down first.
    var arriving: Set<ObjectKey> = []
    /// Downloads by the one path of their file.
    var files: [String: ObjectKey] = [:]
    /// Those that wait, in the order in which they run.
    var queue: [ObjectKey] = []
    var lastNumber: Int64 = 0
    var isRunning = false
    /// What the app said of the network last.
    var network: NetworkTraits = []
    let signal = Condition()
    let listenerThreads = BlockingThreads.system.makeQueue("osssync.listeners", .concurrent)

    /// Reads what an earlier process left; no request is made.
    ///
    /// - Parameters:
    ///   - directory: Where records are kept. It is made if it is missing, for this user alone; its
    ///     parent must exist. One manager at a time has it.
    ///   - limit: Transfers that run at once, at least 1; each has several connections.
    ///   - base: A directory above the files that may be moved together with them, such as an app's
    ///     container: paths below it are stored relative to it. A download whose options name no
    ///     ``DownloadOptions/base`` has this one.
    ///   - providerLimit: How long the provider may take, at most a day; then the attempt fails
    ///     with code `remoteUnreachable`, which is retryable: ``networkChanged()`` starts the
    ///     transfer again. The provider's task is cancelled, and not waited for.
    ///   - provider: Says what a transfer moves; asked once in each process for a transfer that
    ///     was added without a job, and for one that an earlier process had added, and again for
    ///     the attempt that follows a failure. What it throws ends the attempt, with code
    ///     `credentials` unless it is a `SyncError` itself.
    /// - Throws: `SyncError`: `locked` if another manager has the directory, `localState` if it
    ///   can't be used, `configuration` for a limit of none or a provider's limit out of bounds.
    public init(
        directory: String,
        limit: Int = 3,
        base: String? = nil,
        providerLimit: Duration = .seconds(60),
        provider: @escaping Provider
    ) async throws(SyncError) {
        try SettingBounds.check(limit, "limit", 1...Int.max)
        try SettingBounds.check(providerLimit, "providerLimit", SettingBounds.wait)
        self.providerLimit = providerLimit
        self.directory = directory
        self.limit = limit
        self.provider = provider
        let disk = BlockingQueue(label: "osssync.manager", width: 1, threads: .system)
        self.disk = disk
        do throws(LocalError) {
            let (index, found) = try await disk.run {
                () throws(LocalError) -> (TransferIndex, [TransferIndex.Found]) in
                let index = try TransferIndex(path: directory, base: base)
                return (index, try index.load())
            }
            self.index = index
            for (number, transfer, file) in found {
                let key = ObjectKey(transfer.id)
                if let file { files[file] = key }
                entries[key] = Entry(
                    number: number,
                    transfer: transfer,
                    file: file,
                    wanted: transfer.wanted,
                    mailbox: ListenerMailbox(listenerThreads)
                )
                lastNumber = max(lastNumber, number)
            }
        } catch {
            guard case .lockHeld = error else { throw SyncError(error) }
            throw SyncError(
                code: .locked,
                message:
                    "'\(displayText(directory))': another transfer manager, of this process or "
                    + "of another one, has this directory; use that one, or another directory",
                underlying: error
            )
        }
        // What was to be cancelled needs a turn, too.
        queue = entries.filter { [.waiting, .cancelled].contains($0.value.transfer.state) }
            .sorted { $0.value.isBefore($1.value) }.map(\.key)
    }

    deinit { broadcaster.end() }

    /// What happens to all transfers from now on.
    public nonisolated var events: TransferEventSequence {
        TransferEventSequence(buffer: broadcaster.makeBuffer())
    }

    /// All transfers, in the order in which they were added.
    public var transfers: [ManagedTransfer] {
        entries.values.sorted { $0.number < $1.number }.map(\.current)
    }

    /// One transfer; nil if there is none with this ID.
    public subscript(_ id: String) -> ManagedTransfer? {
        entries[ObjectKey(id)]?.current
    }
}

// MARK: - What both sides need

extension TransferManager {
    func known(_ id: String) throws(SyncError) -> ObjectKey {
        let key = ObjectKey(id)
        guard entries[key] != nil else {
            throw SyncError(
                code: .notFound,
                message: "'\(displayText(id))': there is no such transfer"
            )
        }
        return key
    }

    func leaving(_ id: String) -> SyncError {
        SyncError(
            code: .locked,
            message: "'\(displayText(id))' is being added or cancelled"
        )
    }

    /// Notifies the current listeners.
    func notify(_ kind: TransferEvent.Kind, _ key: ObjectKey) {
        guard let entry = entries[key] else { return }
        let event = TransferEvent(id: entry.transfer.id, kind: kind)
        broadcaster.post(event)
        entry.mailbox.post(event)
    }

    /// Writes down what is known now; later calls write later.
    func save(_ key: ObjectKey) async throws(SyncError) {
        guard let entry = entries[key] else { return }
        try await save(entry.recorded, entry.number)
    }

    func save(_ transfer: ManagedTransfer, _ number: Int64) async throws(SyncError) {
        let index = index
        try await onDisk { () throws(LocalError) in
            try index.save(transfer, number: number)
        }
    }

    func onDisk(
        _ body: @escaping @Sendable () throws(LocalError) -> Void
    ) async throws(SyncError) {
        do throws(LocalError) {
            try await disk.run(body)
        } catch {
            throw SyncError(error)
        }
    }
}

extension TransferManager.Entry {
    /// With the bytes of this instant.
    var current: ManagedTransfer {
        guard let snapshot = work?.snapshot, let total = snapshot.total else { return transfer }
        var transfer = transfer
        transfer.completedBytes = snapshot.completed
        transfer.totalBytes = total
        return transfer
    }

    /// As the next process is to find it: what is wanted counts, not what could be done by then.
    var recorded: ManagedTransfer {
        var recorded = current
        switch wanted {
        case .nothing, .forgotten: break
        case .running: recorded.state = .waiting
        case .paused: recorded.state = .paused
        case .cancelled: recorded.state = .cancelled
        }
        return recorded
    }

    /// True if its turn comes first, when both are added to an empty queue.
    func isBefore(_ other: Self) -> Bool {
        let (priority, theirs) = (transfer.priority, other.transfer.priority)
        return priority == theirs ? number < other.number : priority > theirs
    }

    /// True while `cancel` or `forget` works on it.
    var isLeaving: Bool { wanted == .cancelled || wanted == .forgotten }
}

extension ManagedTransfer {
    /// What an earlier process was asked for.
    fileprivate var wanted: TransferManager.Wanted {
        switch state {
        case .waiting, .running: .running
        case .paused: .paused
        case .ready, .cancelled, .failed, .finished: .nothing
        }
    }
}
