public import SyncEngine
internal import SyncModel

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
    /// - Throws: `SyncError` of code `localState` if one of them could not be written down: all
    ///   rest nevertheless, and that one waits again in the next process.
    public func pauseAll() async throws(SyncError) {
        let active = entries.filter { $0.value.transfer.state.isActive }
        try await pause(active.sorted { $0.value.number < $1.value.number }.map(\.key))
    }

    private func pause(_ ids: [ObjectKey]) async throws(SyncError) {
        // Nobody's turn comes while others are stopped.
        let waiting = ids.filter { entries[$0]?.transfer.state == .waiting }
        queue.removeAll { waiting.contains($0) }
        for id in waiting {
            entries[id]?.transfer.state = .paused
            tell(.paused, id)
        }
        for id in ids where entries[id]?.transfer.state == .running {
            if entries[id]?.wish == nil { entries[id]?.wish = .pause }
            entries[id]?.work?.askForPause()
        }
        signal.raise()
        var failure: SyncError?
        for id in waiting {
            do throws(SyncError) { try await save(id) } catch { failure = failure ?? error }
        }
        for id in ids { await rest(id) }
        if let failure { throw failure }
    }

    /// Returns when the transfer has stopped as somebody wished.
    func rest(_ id: ObjectKey) async {
        // One that was resumed since runs without a wish.
        guard entries[id]?.transfer.state == .running, entries[id]?.wish != nil else { return }
        await withCheckedContinuation { entries[id]?.waiters.append($0) }
    }
}

extension TransferState {
    fileprivate var isActive: Bool { self == .running || self == .waiting }
}
