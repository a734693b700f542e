internal import LocalStorage
internal import SyncEngine
internal import SyncModel

/// Many downloads and uploads, a few at once, which the app knows by identifiers of its own.
///
/// ```swift
/// let manager = try await TransferManager(directory: "transfers") { identifier in
///     .download(try .presigned(await askMyServer(for: identifier)), to: identifier)
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
    public typealias Provider = @Sendable (_ identifier: String) async throws -> TransferJob

    /// A command to a running transfer that has not taken effect yet.
    enum PendingCommand {
        case pause
        case cancel
    }

    struct Entry {
        let number: Int64
        var transfer: ManagedTransfer
        var job: TransferJob?
        /// True if the provider returned the job, and can return it again.
        var isAsked = false
        var listener: (any TransferListener)?
        /// While it runs.
        var work: ManagedWork?
        var command: PendingCommand?
        /// True while `cancel` or `remove` works on it.
        var isBeingRemoved = false
        /// Resumed when it does not run any more.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let longestIdentifier = 1_024

    /// Where the records are.
    public nonisolated let directory: String
    /// Transfers that run at once.
    public nonisolated let limit: Int
    nonisolated let broadcaster = EventBroadcaster()
    let provider: Provider
    private let index: TransferIndex
    private let disk: BlockingQueue
    var entries: [ObjectKey: Entry] = [:]
    /// Those that are being added, and are written down first.
    private var arriving: Set<ObjectKey> = []
    /// Those that wait, in the order in which they run.
    var queue: [ObjectKey] = []
    private var lastNumber: Int64 = 0
    var isRunning = false
    let signal = Condition()

    /// Reads what an earlier process left; no request is made.
    ///
    /// - Parameters:
    ///   - directory: Where records are kept. It is made if it is missing, and is made private; its
    ///     parent must exist. One manager at a time has it.
    ///   - limit: Transfers that run at once, at least 1; each has several connections.
    ///   - provider: Says what a transfer moves; asked once in each process for a transfer that
    ///     was added without a job, and for one that an earlier process had added, and again for
    ///     the attempt that follows a failure. What it throws ends the attempt, with code
    ///     `credentials` unless it is a `SyncError` itself.
    /// - Throws: `SyncError`: `locked` if another manager has the directory, `localState` if it
    ///   can't be used, `configuration` for a limit of none.
    public init(
        directory: String,
        limit: Int = 3,
        provider: @escaping Provider
    ) async throws(SyncError) {
        guard limit > 0 else {
            throw SyncError(code: .configuration, message: "a manager runs at least one transfer")
        }
        self.directory = directory
        self.limit = limit
        self.provider = provider
        let disk = BlockingQueue(label: "osssync.manager", width: 1, threads: .system)
        self.disk = disk
        do throws(LocalError) {
            let (index, found) = try await disk.run {
                () throws(LocalError) -> (
                    TransferIndex, [(number: Int64, transfer: ManagedTransfer)]
                ) in
                let index = try TransferIndex(path: directory)
                return (index, try index.load())
            }
            self.index = index
            for (number, transfer) in found {
                let id = ObjectKey(transfer.identifier)
                entries[id] = Entry(number: number, transfer: transfer)
                if transfer.state == .waiting { queue.append(id) }
                lastNumber = max(lastNumber, number)
            }
        } catch {
            throw SyncError(error)
        }
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

    /// One transfer; nil if there is none with this identifier.
    public func transfer(_ identifier: String) -> ManagedTransfer? {
        entries[ObjectKey(identifier)]?.current
    }
}

// MARK: - Adding and removing

extension TransferManager {
    /// Adds a transfer, which runs once it is started.
    ///
    /// - Parameters:
    ///   - identifier: The app's own name for it, which is stored in the directory and shown in
    ///     messages: not a secret. Identifiers are compared by their bytes.
    ///   - job: What it moves; nil asks the provider.
    ///   - listener: Notified of its events; nil for none. After a restart, use
    ///     ``setListener(_:for:)``.
    /// - Throws: `SyncError`: `alreadyExists` if there is one of this identifier that has not
    ///   finished, `configuration` for an identifier that is empty or longer than 1,024 bytes,
    ///   `localState` if it can't be written down; what the provider throws.
    public func add(
        _ identifier: String,
        _ job: TransferJob? = nil,
        listener: (any TransferListener)? = nil
    ) async throws(SyncError) {
        guard (1...Self.longestIdentifier).contains(identifier.utf8.count) else {
            throw SyncError(
                code: .configuration,
                message: "an identifier has 1 to \(Self.longestIdentifier) bytes"
            )
        }
        let known: TransferJob
        if let job { known = job } else { known = try await ask(identifier) }
        let id = ObjectKey(identifier)
        let isFree =
            entries[id].map { $0.transfer.state == .finished && !$0.isBeingRemoved } ?? true
        guard isFree, arriving.insert(id).inserted else {
            throw SyncError(
                code: .alreadyExists,
                message: "'\(displayText(identifier))': this transfer already exists"
            )
        }
        defer { arriving.remove(id) }
        lastNumber += 1
        let entry = Entry(
            number: lastNumber,
            transfer: ManagedTransfer(
                identifier: identifier,
                kind: known.kind,
                path: known.path,
                state: .ready,
                completedBytes: 0,
                totalBytes: nil
            ),
            job: known,
            isAsked: job == nil,
            listener: listener
        )
        try await save(entry.transfer, entry.number)
        // Nothing could start or pause it before, so nothing has to be undone.
        entries[id] = entry
    }

    /// Replaces the listener of a transfer, also of a running one; nil removes it.
    public func setListener(
        _ listener: (any TransferListener)?,
        for identifier: String
    ) throws(SyncError) {
        let id = try known(identifier)
        entries[id]?.listener = listener
    }

    /// Forgets a transfer that finished; its file or object stays.
    ///
    /// - Throws: `SyncError`: `notFound`; `refused` if it has not finished: cancel it;
    ///   `localState`.
    public func remove(_ identifier: String) async throws(SyncError) {
        let id = try known(identifier)
        guard entries[id]?.transfer.state == .finished, !arriving.contains(id) else {
            throw SyncError(
                code: .refused,
                message: "'\(displayText(identifier))' has not finished; cancel it instead"
            )
        }
        try await forget(id)
    }

    /// Gives a transfer up: stops it, deletes what it left unfinished, and forgets it.
    ///
    /// A finished file or object stays, and the transfer is forgotten all the same.
    ///
    /// - Throws: `SyncError`: `notFound`; `locked` if it is being cancelled or added; what the
    ///   provider throws, or the error that prevented the deletion: the transfer is then stopped,
    ///   and another `cancel` tries again.
    public func cancel(_ identifier: String) async throws(SyncError) {
        let id = try known(identifier)
        guard entries[id]?.isBeingRemoved == false, !arriving.contains(id) else {
            throw leaving(identifier)
        }
        entries[id]?.isBeingRemoved = true
        do throws(SyncError) {
            try await stop(id)
            guard entries[id]?.transfer.state != .finished else { return try await forget(id) }
            try await work(id, of: identifier).cancel()
            try await forget(id, telling: .cancelled)
        } catch {
            entries[id]?.isBeingRemoved = false
            throw error
        }
    }

    private func stop(_ id: ObjectKey) async throws(SyncError) {
        switch entries[id]?.transfer.state {
        case .running:
            entries[id]?.command = .cancel
            await entries[id]?.work?.interrupt()
            await suspend(id)
        case .waiting:
            queue.removeAll { $0 == id }
            entries[id]?.transfer.state = .paused
            try await save(id)
        default: break
        }
    }

    private func forget(
        _ id: ObjectKey,
        telling kind: TransferEvent.Kind? = nil
    ) async throws(SyncError) {
        guard let entry = entries[id] else { return }
        let (index, identifier) = (index, entry.transfer.identifier)
        try await onDisk { () throws(LocalError) in try index.remove(identifier) }
        // Another one of this name may have come while the disk was at work; it stays.
        guard entries[id]?.number == entry.number else { return }
        if let kind { notify(kind, id) }
        entries[id] = nil
        broadcaster.forget(identifier)
    }
}

// MARK: - What both sides need

extension TransferManager {
    /// True if it runs, and is to be paused or cancelled.
    package func isToStop(_ identifier: String) -> Bool {
        entries[ObjectKey(identifier)]?.command != nil
    }

    func known(_ identifier: String) throws(SyncError) -> ObjectKey {
        let id = ObjectKey(identifier)
        guard entries[id] != nil else {
            throw SyncError(
                code: .notFound,
                message: "'\(displayText(identifier))': there is no such transfer"
            )
        }
        return id
    }

    func leaving(_ identifier: String) -> SyncError {
        SyncError(
            code: .locked,
            message: "'\(displayText(identifier))' is being added or cancelled"
        )
    }

    /// Notifies the current listeners.
    func notify(_ kind: TransferEvent.Kind, _ id: ObjectKey) {
        guard let entry = entries[id] else { return }
        let event = TransferEvent(identifier: entry.transfer.identifier, kind: kind)
        broadcaster.post(event)
        if let listener = entry.listener { event.notify(listener) }
    }

    /// Writes down what is known now; later calls write later.
    func save(_ id: ObjectKey) async throws(SyncError) {
        guard let entry = entries[id] else { return }
        try await save(entry.transfer, entry.number)
    }

    func save(_ transfer: ManagedTransfer, _ number: Int64) async throws(SyncError) {
        let index = index
        try await onDisk { () throws(LocalError) in
            try index.save(transfer, number: number)
        }
    }

    private func onDisk(
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
}
