internal import SyncEngine
internal import SyncModel

extension TransferManager {
    /// Lets a transfer run when its turn comes; nothing happens to one that waits, runs or has
    /// finished.
    ///
    /// - Throws: `SyncError`: `notFound`, `locked` if it is being cancelled, `localState`.
    public func start(_ identifier: String) async throws(SyncError) {
        let id = try known(identifier)
        guard let entry = entries[id], !entry.isBeingRemoved else { throw leaving(identifier) }
        switch entry.transfer.state {
        case .running, .waiting, .finished: return
        case .ready, .paused, .failed, .cancelled: break
        }
        entries[id]?.transfer.state = .waiting
        queue.append(id)
        signal.raise()
        try await save(id)
    }

    /// Queues a paused or failed transfer to resume when its turn comes.
    ///
    /// - Throws: As ``start(_:)``.
    public func resume(_ identifier: String) async throws(SyncError) {
        try await start(identifier)
    }

    /// Stops a transfer so that it can be resumed later, also in another process, and waits until
    /// it has stopped.
    ///
    /// Does nothing if it is not running or waiting.
    ///
    /// - Throws: `SyncError`: `notFound`, `localState`.
    public func pause(_ identifier: String) async throws(SyncError) {
        try await pause([try known(identifier)])
    }

    /// Pauses all running and waiting transfers, and waits until they have stopped.
    ///
    /// - Throws: `SyncError` of code `localState` if the state of one could not be recorded: all
    ///   have stopped nevertheless, and that one waits again in the next process.
    public func pauseAll() async throws(SyncError) {
        let active = entries.filter { $0.value.transfer.state.isActive }
        try await pause(active.sorted { $0.value.number < $1.value.number }.map(\.key))
    }

    private func pause(_ ids: [ObjectKey]) async throws(SyncError) {
        // No other transfer starts while these are being stopped.
        let waiting = ids.filter { entries[$0]?.transfer.state == .waiting }
        queue.removeAll { waiting.contains($0) }
        for id in waiting {
            entries[id]?.transfer.state = .paused
            notify(.paused, id)
        }
        for id in ids where entries[id]?.transfer.state == .running {
            if entries[id]?.command == nil { entries[id]?.command = .pause }
            entries[id]?.work?.askForPause()
        }
        signal.raise()
        var failure: SyncError?
        for id in waiting {
            do throws(SyncError) { try await save(id) } catch { failure = failure ?? error }
        }
        for id in ids { await suspend(id) }
        if let failure { throw failure }
    }

    /// Returns when the transfer has stopped because of its pending command.
    func suspend(_ id: ObjectKey) async {
        // A transfer that was resumed since then has no pending command.
        guard entries[id]?.transfer.state == .running, entries[id]?.command != nil else { return }
        await withCheckedContinuation { entries[id]?.waiters.append($0) }
    }
}

extension TransferState {
    fileprivate var isActive: Bool { self == .running || self == .waiting }
}
