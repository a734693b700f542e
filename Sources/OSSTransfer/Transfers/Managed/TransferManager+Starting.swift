internal import SyncModel

extension TransferManager {
    /// Starts a transfer when its turn comes, or resumes one that was paused, failed or was
    /// cancelled.
    ///
    /// Nothing happens to one that waits, runs or has finished. One that is being paused runs again
    /// at its turn.
    ///
    /// - Throws: `SyncError`: `notFound`, `locked` if it is being cancelled; `localState` if it
    ///   can't be written down, and then it is not started.
    public func start(_ id: String) async throws(SyncError) {
        let key = try known(id)
        guard entries[key]?.isLeaving == false else { throw leaving(id) }
        try await start([key])
    }

    /// Those that can be started take their turns together, when all are written down: the one with
    /// the highest priority runs first, not the one that was written down first.
    private func start(_ keys: [ObjectKey]) async throws(SyncError) {
        var written: [ObjectKey] = []
        defer { for key in written { takeTurn(key) } }
        for key in keys {
            try await want(key)
            written.append(key)
        }
    }

    /// Writes down that a transfer is to run.
    private func want(_ key: ObjectKey) async throws(SyncError) {
        // Another call may have removed it meanwhile.
        guard let entry = entries[key], !entry.isLeaving else { return }
        switch entry.transfer.state {
        case .waiting, .finished: return
        case .running where entry.wanted == .running: return
        case .running, .ready, .paused, .failed, .cancelled: break
        }
        entries[key]?.wanted = .running
        entries[key]?.transfer.pauseReason = nil
        do throws(SyncError) {
            try await save(key)
        } catch {
            // A later call that was written down counts.
            if entries[key]?.wanted == .running,
                entries[key]?.transfer.state == entry.transfer.state
            {
                entries[key]?.wanted = entry.wanted
            }
            throw error
        }
    }

    /// Lets a transfer wait for its turn that was started, unless it was paused since, or waits or
    /// runs already.
    private func takeTurn(_ key: ObjectKey) {
        guard let entry = entries[key], entry.wanted == .running else { return }
        switch entry.transfer.state {
        case .ready, .paused, .failed, .cancelled: break
        case .running, .waiting, .finished: return
        }
        entries[key]?.transfer.state = .waiting
        queueUp(key)
        signal.raise()
    }

    /// Puts a transfer behind all others of its priority, or before them.
    func queueUp(_ key: ObjectKey, beforeEqual: Bool = false) {
        let priority = entries[key]?.transfer.priority ?? 0
        let place = queue.firstIndex { other in
            let theirs = entries[other]?.transfer.priority ?? 0
            return theirs < priority || (beforeEqual && theirs == priority)
        }
        queue.insert(key, at: place ?? queue.count)
    }

    /// Changes when a transfer starts: of those that wait, one with a higher priority starts first.
    ///
    /// One that runs is not stopped for another one.
    ///
    /// - Throws: `SyncError`: `notFound`; `locked` if it is being added or cancelled; `localState`
    ///   if it can't be written down: it holds in this process only.
    public func setPriority(_ priority: Int, of id: String) async throws(SyncError) {
        let key = try staying(id)
        entries[key]?.transfer.priority = priority
        if let place = queue.firstIndex(of: key) {
            queue.remove(at: place)
            queueUp(key)
        }
        try await save(key)
    }

    /// Changes over which networks a transfer may run, besides those without any such trait.
    ///
    /// One that runs over another network stops, and waits for one of these.
    ///
    /// - Throws: `SyncError`: `notFound`; `locked` if it is being added or cancelled; `localState`
    ///   if it can't be written down: it holds in this process only.
    public func setNetworks(
        _ networks: NetworkTraits,
        of id: String
    ) async throws(SyncError) {
        let key = try staying(id)
        entries[key]?.transfer.networks = networks
        followNetwork()
        try await save(key)
    }

    /// Stops a transfer so that it can be resumed later, also in another process, and waits until
    /// it has stopped.
    ///
    /// Waits for no provider. A process that is killed meanwhile leaves the transfer paused. Does
    /// nothing if it is not running or waiting.
    ///
    /// - Throws: `SyncError`: `notFound`, `localState`.
    public func pause(_ id: String) async throws(SyncError) {
        try await pause([try known(id)])
    }

    /// Pauses all running and waiting transfers, and waits until they have stopped.
    ///
    /// - Parameter reason: Kept with each of them for ``resumeAll(reason:)``, also in another
    ///   process, such as `background`.
    /// - Throws: `SyncError` of code `localState` if the state of one could not be recorded: all
    ///   have stopped nevertheless, and that one waits again in the next process.
    public func pauseAll(reason: String? = nil) async throws(SyncError) {
        try await pause(ordered { $0.wanted == .running }, reason: reason)
    }

    /// Starts all transfers that wait for their first start, in the order in which they were added.
    ///
    /// - Throws: As ``start(_:)``; those before it are started.
    public func startAll() async throws(SyncError) {
        try await start(ordered { $0.transfer.state == .ready })
    }

    /// Resumes all transfers that ``pauseAll(reason:)`` paused for this reason, and no other; nil:
    /// all that are paused.
    ///
    /// - Throws: As ``start(_:)``; those before it are resumed.
    public func resumeAll(reason: String? = nil) async throws(SyncError) {
        let paused = ordered { entry in
            entry.wanted == .paused && (reason == nil || entry.transfer.pauseReason == reason)
        }
        try await start(paused)
    }

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
    /// network has the state `waiting`, and no event tells of it.
    ///
    /// - Parameter traits: What the network is; none if it suits all transfers.
    public func networkChanged(to traits: NetworkTraits) {
        network = traits
        followNetwork()
        networkChanged()
    }

    /// Stops what may not run over the network of now, and starts what may.
    private func followNetwork() {
        for (key, entry) in entries where !suitsNetwork(key) { entry.work?.pause() }
        signal.raise()
    }

    /// True if the transfer may run over the network of now.
    func suitsNetwork(_ key: ObjectKey) -> Bool {
        entries[key]?.transfer.networks.isSuperset(of: network) ?? true
    }

    /// Those that match, in the order in which they were added.
    private func ordered(_ matches: (ManagedEntry) -> Bool) -> [ObjectKey] {
        entries.filter { matches($0.value) }.sorted { $0.value.number < $1.value.number }
            .map(\.key)
    }

    private func pause(_ ids: [ObjectKey], reason: String? = nil) async throws(SyncError) {
        let ids = ids.filter { entries[$0]?.wanted == .running }
        // No other transfer starts while these are being stopped.
        let waiting = Set(ids.filter { entries[$0]?.transfer.state == .waiting })
        queue.removeAll { waiting.contains($0) }
        for key in ids {
            entries[key]?.wanted = .paused
            entries[key]?.transfer.pauseReason = reason
            if entries[key]?.transfer.state != .running {
                entries[key]?.transfer.state = .paused
                notify(.paused, key)
            }
            entries[key]?.question?.abandon()
            entries[key]?.work?.pause()
        }
        signal.raise()
        var failure: SyncError?
        for key in ids {
            do throws(SyncError) { try await save(key) } catch { failure = failure ?? error }
        }
        for key in ids { await suspend(key) }
        if let failure { throw failure }
    }

    /// Returns when the transfer has stopped because that was asked for.
    func suspend(_ key: ObjectKey) async {
        // One that was resumed since then runs on, or again.
        guard entries[key]?.transfer.state == .running, entries[key]?.wanted != .running else {
            return
        }
        await withCheckedContinuation { entries[key]?.waiters.append($0) }
    }
}
