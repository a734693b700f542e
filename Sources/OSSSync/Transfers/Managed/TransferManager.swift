internal import LocalStorage
public import SyncEngine
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
/// from any task at any time. What is known of each transfer is in the directory after each change
/// of its state, so that the next process goes on where this one ended, in whatever way it did:
/// what ran or waited waits, what was paused or failed stays so, and what finished is known to have
/// finished until ``remove(_:)``. Secrets are not written down; they are asked for again.
public actor TransferManager {
    /// Says what a transfer moves, when it is about to run or to be cancelled and nobody has said
    /// so in this process.
    public typealias Provider = @Sendable (_ identifier: String) async throws -> TransferJob

    /// What somebody wants of a transfer that is under way.
    enum Wish {
        case pause
        case cancel
    }

    struct Entry {
        let number: Int64
        var transfer: ManagedTransfer
        var job: TransferJob?
        /// True if the provider said what the job is, and can say it again.
        var isAsked = false
        var listener: (any TransferListener)?
        /// While it runs.
        var work: ManagedWork?
        var wish: Wish?
        /// True while `cancel` or `remove` is at it.
        var isLeaving = false
        /// Resumed when it does not run any more.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private static let longestIdentifier = 1_024

    /// Where the records are.
    public nonisolated let directory: String
    /// Transfers that run at once.
    public nonisolated let limit: Int
    nonisolated let hub = TransferEventHub()
    let provider: Provider
    private let register: TransferRegister
    private let disk: BlockingQueue
    var entries: [ObjectKey: Entry] = [:]
    /// Those that wait, in the order in which they run.
    var queue: [ObjectKey] = []
    private var lastNumber: Int64 = 0
    var isRunning = false
    let signal = ChangeSignal()

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
            let (register, found) = try await disk.run {
                () throws(LocalError) -> (
                    TransferRegister, [(number: Int64, transfer: ManagedTransfer)]
                ) in
                let register = try TransferRegister(path: directory)
                return (register, try register.load())
            }
            self.register = register
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

    deinit { hub.end() }

    /// What happens to all transfers from now on.
    public nonisolated var events: TransferEventSequence {
        TransferEventSequence(box: hub.makeBox())
    }

    /// All transfers, in the order in which they were added.
    public var transfers: [ManagedTransfer] {
        entries.values.sorted { $0.number < $1.number }.map(\.current)
    }

    /// One transfer; nil if there is none of this identifier.
    public func transfer(_ identifier: String) -> ManagedTransfer? {
        entries[ObjectKey(identifier)]?.current
    }
}

// MARK: - Adding and removing

extension TransferManager {
    /// Adds a transfer, which runs once it is started.
    ///
    /// - Parameters:
    ///   - identifier: The app's own name for it, which stands in the directory and in messages: no
    ///     secret. Identifiers are compared by their bytes.
    ///   - job: What it moves; nil asks the provider.
    ///   - listener: Told of it; nobody is by default. After a restart use
    ///     ``setListener(_:for:)``.
    /// - Throws: `SyncError`: `alreadyExists` if there is one of this identifier that has not
    ///   finished, `configuration` for an identifier of none or more than 1,024 bytes,
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
        if let entry = entries[id], entry.transfer.state != .finished || entry.isLeaving {
            throw SyncError(
                code: .alreadyExists,
                message: "'\(displayText(identifier))': there is such a transfer already"
            )
        }
        lastNumber += 1
        entries[id] = Entry(
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
        do throws(SyncError) {
            try await save(id)
        } catch {
            entries[id] = nil
            throw error
        }
    }

    /// Tells another listener of a transfer from now on, or nobody.
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
        guard entries[id]?.transfer.state == .finished else {
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
    /// - Throws: `SyncError`: `notFound`; `locked` if it is being cancelled already; what the
    ///   provider throws, or whatever prevented the deletion: the transfer rests then, and another
    ///   `cancel` tries again.
    public func cancel(_ identifier: String) async throws(SyncError) {
        let id = try known(identifier)
        guard entries[id]?.isLeaving == false else { throw leaving(identifier) }
        entries[id]?.isLeaving = true
        do throws(SyncError) {
            try await stop(id)
            guard entries[id]?.transfer.state != .finished else { return try await forget(id) }
            try await work(id, of: identifier).cancel()
            try await forget(id, telling: .cancelled)
        } catch {
            entries[id]?.isLeaving = false
            throw error
        }
    }

    private func stop(_ id: ObjectKey) async throws(SyncError) {
        switch entries[id]?.transfer.state {
        case .running:
            entries[id]?.wish = .cancel
            await entries[id]?.work?.interrupt()
            await rest(id)
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
        let (register, identifier) = (register, entry.transfer.identifier)
        try await onDisk { () throws(LocalError) in try register.remove(identifier) }
        entries[id] = nil
        if let kind { tell(kind, entry) }
    }
}

// MARK: - Starting and stopping

extension TransferManager {
    /// Lets a transfer run when its turn comes; nothing happens to one that waits, runs or has
    /// finished.
    ///
    /// - Throws: `SyncError`: `notFound`, `locked` if it is being cancelled, `localState`.
    public func start(_ identifier: String) async throws(SyncError) {
        let id = try known(identifier)
        guard let entry = entries[id], !entry.isLeaving else { throw leaving(identifier) }
        switch entry.transfer.state {
        case .running, .waiting, .finished: return
        case .ready, .paused, .failed, .cancelled: break
        }
        entries[id]?.transfer.state = .waiting
        queue.append(id)
        signal.raise()
        try await save(id)
    }

    /// Lets a transfer that was paused or has failed go on when its turn comes.
    ///
    /// - Throws: As ``start(_:)``.
    public func resume(_ identifier: String) async throws(SyncError) {
        try await start(identifier)
    }

    /// Stops a transfer so that it can go on later, also in another process, and waits until it
    /// rests.
    ///
    /// Nothing happens to one that rests.
    ///
    /// - Throws: `SyncError`: `notFound`, `localState`.
    public func pause(_ identifier: String) async throws(SyncError) {
        try await pause([try known(identifier)])
    }

    /// Pauses all transfers that run or wait, and waits until they rest.
    ///
    /// - Throws: `SyncError` of code `localState`.
    public func pauseAll() async throws(SyncError) {
        let active = entries.filter { $0.value.transfer.state.isActive }
        try await pause(active.sorted { $0.value.number < $1.value.number }.map(\.key))
    }

    private func pause(_ ids: [ObjectKey]) async throws(SyncError) {
        // Nobody's turn comes while others are stopped.
        let waiting = ids.filter { entries[$0]?.transfer.state == .waiting }
        queue.removeAll { waiting.contains($0) }
        for id in waiting { entries[id]?.transfer.state = .paused }
        for id in ids where entries[id]?.transfer.state == .running {
            if entries[id]?.wish == nil { entries[id]?.wish = .pause }
            entries[id]?.work?.askForPause()
        }
        signal.raise()
        for id in waiting {
            if let entry = entries[id] { tell(.paused, entry) }
            try await save(id)
        }
        for id in ids { await rest(id) }
    }

    /// Returns when the transfer does not run.
    private func rest(_ id: ObjectKey) async {
        guard entries[id]?.transfer.state == .running else { return }
        await withCheckedContinuation { entries[id]?.waiters.append($0) }
    }
}

// MARK: - What both sides need

extension TransferManager {
    /// True if it runs, and is to be paused or cancelled.
    package func isToStop(_ identifier: String) -> Bool {
        entries[ObjectKey(identifier)]?.wish != nil
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

    private func leaving(_ identifier: String) -> SyncError {
        SyncError(
            code: .locked,
            message: "'\(displayText(identifier))' is being cancelled"
        )
    }

    func tell(_ kind: TransferEvent.Kind, _ entry: Entry) {
        let event = TransferEvent(identifier: entry.transfer.identifier, kind: kind)
        hub.post(event)
        if let listener = entry.listener { event.tell(listener) }
    }

    /// Writes down what is known now; later calls write later.
    func save(_ id: ObjectKey) async throws(SyncError) {
        guard let entry = entries[id] else { return }
        let (register, transfer, number) = (register, entry.transfer, entry.number)
        try await onDisk { () throws(LocalError) in
            try register.save(transfer, number: number)
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

extension TransferState {
    fileprivate var isActive: Bool { self == .running || self == .waiting }
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
