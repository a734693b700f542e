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
/// ``forget(_:)``. Secrets are not stored; the provider is asked for them again.
public actor TransferManager {
    /// Returns what a transfer moves; called before it runs or is cancelled if this process does
    /// not know yet.
    public typealias Provider = @Sendable (_ id: String) async throws -> TransferJob

    /// Where the records are.
    public nonisolated let directory: String
    /// Transfers that run at once; ``setLimit(_:)`` changes it.
    public private(set) var limit: Int
    nonisolated let broadcaster = EventBroadcaster()
    let provider: Provider
    let providerLimit: Duration
    let reconnects: ConnectionSettings.ReconnectPolicy?
    /// Raised when the provider may reach its server again.
    let reachable = Condition()
    let environment = SystemClocks.engine(hostName: "")
    let index: TransferIndex
    let disk: BlockingQueue
    var entries: [ObjectKey: ManagedEntry] = [:] { didSet { changes.raise() } }
    /// Those that are being added, and are written down first.
    var arriving: Set<ObjectKey> = []
    /// Downloads by the one path of their file.
    var files: [String: ObjectKey] = [:]
    /// Those that wait, in the order in which they run.
    var queue: [ObjectKey] = []
    var lastNumber: Int64 = 0
    var isRunning = false
    /// Transfers that have their turn.
    var activeCount = 0
    /// What the app said of the network last.
    var network: TransferJob.NetworkTraits = [] { didSet { changes.raise() } }
    let signal = Condition()
    /// Raised whenever ``rows`` may be others.
    let changes = Condition()

    /// Reads what an earlier process left; no request is made.
    ///
    /// - Parameters:
    ///   - directory: Where records are kept. It is made if it is missing, for this user alone; its
    ///     parent must exist. One manager at a time has it.
    ///   - limit: Transfers that run at once, at least 1; each has several connections.
    ///   - base: A directory above the files that may be moved together with them, such as an app's
    ///     container: paths below it are stored relative to it. A download whose options name no
    ///     ``DownloadOptions/base`` has this one.
    ///   - providerLimit: How long the provider may take, at most a day; its task is then
    ///     cancelled, and not waited for, and it counts as out of reach.
    ///   - reconnects: How often, and after which pauses, the provider is asked again whose server
    ///     can't be reached (it was too slow, or threw a `TransferError` whose `isRetryable` is
    ///     true or whose `status` is 5xx, or a `URLError` of connection, time or resolution). The
    ///     transfer waits meanwhile, which a notice tells; ``networkChanged()`` ends the pause.
    ///     Then, or at once if this is nil, it fails with code `remoteUnreachable`, which is
    ///     retryable: ``networkChanged()`` starts the transfer again.
    ///   - provider: Says what a transfer moves; asked once in each process for a transfer that
    ///     was added without a job, and for one that an earlier process had added, and again for
    ///     the attempt that follows a failure. Any other error ends the attempt, with the error's
    ///     code, and `credentials` for errors of other types than `TransferError`.
    /// - Throws: `TransferError`: `locked` if another manager has the directory, `localState` if it
    ///   can't be used, `configuration` for a limit of none or a provider's limit out of bounds.
    public init(
        directory: String,
        limit: Int = 3,
        base: String? = nil,
        providerLimit: Duration = .seconds(60),
        reconnects: ConnectionSettings.ReconnectPolicy? = .standard,
        provider: @escaping Provider
    ) async throws(TransferError) {
        try SettingBounds.check(limit, "limit", 1...Int.max)
        try SettingBounds.check(providerLimit, "providerLimit", SettingBounds.wait)
        try reconnects?.check()
        self.providerLimit = providerLimit
        self.reconnects = reconnects
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
                entries[key] = ManagedEntry(
                    number: number,
                    transfer: transfer,
                    file: file,
                    wanted: transfer.wanted
                )
                lastNumber = max(lastNumber, number)
            }
        } catch {
            guard case .lockHeld = error else { throw TransferError(error) }
            throw TransferError(
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

    deinit {
        broadcaster.end()
        changes.raise()
    }

    /// What happens to all transfers from now on.
    public nonisolated var events: TransferEvent.Updates {
        TransferEvent.Updates(buffer: broadcaster.makeBuffer())
    }

    /// All transfers, in the order in which they were added.
    public var transfers: [ManagedTransfer] {
        let now = environment.monotonic()
        return entries.values.map { (number: $0.number, row: $0.shown(over: network, at: now)) }
            .sorted { $0.number < $1.number }.map(\.row)
    }

    /// One transfer; nil if there is none with this ID.
    public subscript(_ id: String) -> ManagedTransfer? {
        entries[ObjectKey(id)]?.shown(over: network, at: environment.monotonic())
    }

    /// Changes how many transfers run at once; more of them start at once.
    ///
    /// With fewer, none is stopped that runs: the next starts when fewer than that run.
    ///
    /// - Parameter limit: At least 1.
    /// - Throws: `TransferError` of code `configuration` for a limit of none.
    public func setLimit(_ limit: Int) throws(TransferError) {
        try SettingBounds.check(limit, "limit", 1...Int.max)
        self.limit = limit
        signal.raise()
    }
}

// MARK: - What both sides need

extension TransferManager {
    func known(_ id: String) throws(TransferError) -> ObjectKey {
        let key = ObjectKey(id)
        guard entries[key] != nil else {
            throw TransferError(
                code: .notFound,
                message: "'\(displayText(id))': there is no such transfer"
            )
        }
        return key
    }

    func leaving(_ id: String) -> TransferError {
        TransferError(
            code: .locked,
            message: "'\(displayText(id))' is being added or cancelled"
        )
    }

    /// Posts an event to all loops over them.
    func notify(_ kind: TransferEvent.Kind, _ key: ObjectKey) {
        guard let entry = entries[key] else { return }
        if case .progress = kind, let moved = entry.work?.snapshot.moved {
            entries[key]?.pace.note(moved, at: environment.monotonic())
        }
        broadcaster.post(TransferEvent(id: entry.transfer.id, kind: kind))
    }

    /// Writes down what is known now; later calls write later.
    func save(_ key: ObjectKey) async throws(TransferError) {
        guard let entry = entries[key] else { return }
        try await save(entry.recorded, entry.number)
    }

    func save(_ transfer: ManagedTransfer, _ number: Int64) async throws(TransferError) {
        let index = index
        try await onDisk { () throws(LocalError) in
            try index.save(transfer, number: number)
        }
    }

    func onDisk(
        _ body: @escaping @Sendable () throws(LocalError) -> Void
    ) async throws(TransferError) {
        do throws(LocalError) {
            try await disk.run(body)
        } catch {
            throw TransferError(error)
        }
    }
}

// MARK: - The network

extension TransferManager {
    /// Ends the wait of all transfers that lost their connection: they retry at once.
    ///
    /// Transfers that failed with a retryable error, also because the provider could not reach its
    /// server, start again when their turn comes, even those of an earlier process. For an app that
    /// is notified that there is a network again, of the same kind.
    public func networkChanged() {
        reachable.raise()
        for entry in entries.values { entry.work?.networkChanged() }
        let failed = ordered { entry in
            entry.transfer.state == .failed && entry.transfer.mayRetry && !entry.isLeaving
        }
        for key in failed {
            entries[key]?.wanted = .running
            takeTurn(key)
        }
    }

    /// Tells of another network: transfers that may not run over it stop, and wait until the
    /// network is one that suits them; those that lost their connection try again at once.
    ///
    /// The manager watches no network itself: an app says what its `NWPathMonitor` reports. Before
    /// the first call the network counts as one that suits all. A transfer that waits for its
    /// network has the state `waiting`, no event tells of it, and its
    /// ``ManagedTransfer/waitingFor`` is `allowedNetwork`.
    ///
    /// - Parameters:
    ///   - isExpensive: Bytes cost money, as over a mobile network or a personal hotspot;
    ///     `NWPath.isExpensive`.
    ///   - isConstrained: The user wants little to be moved, as in Low Data Mode;
    ///     `NWPath.isConstrained`.
    public func networkChanged(isExpensive: Bool, isConstrained: Bool) {
        network = TransferJob.NetworkTraits(isExpensive: isExpensive, isConstrained: isConstrained)
        followNetwork()
        networkChanged()
    }

    /// Stops what may not run over the network of now, and starts what may.
    func followNetwork() {
        for (key, entry) in entries where !entry.isLeaving && !suitsNetwork(key) {
            entry.work?.pause()
        }
        signal.raise()
    }

    /// True if the transfer may run over the network of now.
    func suitsNetwork(_ key: ObjectKey) -> Bool {
        entries[key]?.transfer.networks.isSuperset(of: network) ?? true
    }
}

// MARK: - Removing

extension TransferManager {
    /// Gives a transfer up: stops it, deletes what it left unfinished, and forgets it.
    ///
    /// A finished file or object stays, and the transfer is forgotten without an event. For an
    /// upload that has parts at the store, the provider is asked if this process does not know what
    /// it moves. If the process ends meanwhile, the next ``run()`` continues.
    ///
    /// - Throws: `TransferError`: `notFound`; `locked` if it is being cancelled or added; what the
    ///   provider throws, or the error that prevented the deletion: the transfer is then paused,
    ///   and another `cancel` tries again. ``forget(_:)`` needs no provider and no store.
    public func cancel(_ id: String) async throws(TransferError) {
        let key = try staying(id)
        if entries[key]?.transfer.state == .finished { return try await drop(key) }
        entries[key]?.wanted = .cancelled
        do throws(TransferError) {
            // A process that is killed from here on leaves the rest to the next.
            try await save(key)
            await stop(key)
            try await finishCancelling(key)
        } catch {
            await rest(key)
            throw error
        }
    }

    /// Forgets a transfer, whatever it does, and asks nobody: stops it and deletes what it left on
    /// this machine.
    ///
    /// For one that has finished, whose file or object stays, this is the call; it is forgotten
    /// without an event. One that had not finished is told as cancelled, and parts of an upload
    /// stay at the store until `MultipartUpload.abort()` or a rule of the bucket deletes them.
    ///
    /// - Throws: `TransferError`: `notFound`; `locked` if it is being cancelled or added;
    ///   `localState` if something could not be deleted: the transfer is then paused.
    public func forget(_ id: String) async throws(TransferError) {
        let key = try staying(id)
        if entries[key]?.transfer.state == .finished { return try await drop(key) }
        entries[key]?.wanted = .forgotten
        await stop(key)
        do throws(TransferError) {
            if entries[key]?.transfer.state == .finished { return try await drop(key) }
            try await discardHere(key)
            try await drop(key, telling: .cancelled)
        } catch {
            await rest(key)
            throw error
        }
    }

    /// One that could not be removed is paused.
    private func rest(_ key: ObjectKey) async {
        let isFinished = entries[key]?.transfer.state == .finished
        entries[key]?.wanted = isFinished ? .nothing : .paused
        if !isFinished { entries[key]?.transfer.state = .paused }
        // The failure that is told came first.
        try? await save(key)
    }

    /// One that is not about to leave.
    func staying(_ id: String) throws(TransferError) -> ObjectKey {
        let key = try known(id)
        guard entries[key]?.isLeaving == false, !arriving.contains(key) else {
            throw leaving(id)
        }
        return key
    }

    /// Stops it at once and waits for that.
    private func stop(_ key: ObjectKey) async {
        queue.removeAll { $0 == key }
        guard entries[key]?.transfer.state == .running else {
            entries[key]?.transfer.state = .paused
            return
        }
        entries[key]?.question?.abandon()
        entries[key]?.work?.cancel(keepingParts: true)
        await suspend(key)
    }

    /// Deletes what a transfer left that was stopped in order to cancel it.
    func finishCancelling(_ key: ObjectKey) async throws(TransferError) {
        guard let entry = entries[key] else { return }
        guard entry.transfer.state != .finished else { return try await drop(key) }
        if entry.transfer.kind == .upload {
            guard let work = try await work(key, of: entry.transfer.id) else {
                throw .interrupted
            }
            // By it a change of the network ends its waits.
            entries[key]?.work = work
            defer { entries[key]?.work = nil }
            try await work.discard()
        }
        try await discardHere(key)
        try await drop(key, telling: .cancelled)
    }

    private func discardHere(_ key: ObjectKey) async throws(TransferError) {
        guard let transfer = entries[key]?.transfer else { return }
        let index = index
        try await onDisk { () throws(LocalError) in try index.discard(transfer) }
    }

    private func drop(
        _ key: ObjectKey,
        telling kind: TransferEvent.Kind? = nil
    ) async throws(TransferError) {
        guard let entry = entries[key] else { return }
        let (index, id) = (index, entry.transfer.id)
        try await onDisk { () throws(LocalError) in try index.remove(id) }
        // Another one of this name may have come while the disk was at work; it stays.
        guard entries[key]?.number == entry.number else { return }
        if let kind { notify(kind, key) }
        entries[key] = nil
        if let file = entry.file, files[file] == key { files[file] = nil }
        broadcaster.forget(id)
    }
}
