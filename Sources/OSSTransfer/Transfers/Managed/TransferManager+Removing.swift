internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

extension TransferManager {
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
        try await drop(id)
    }

    /// Gives a transfer up: stops it, deletes what it left unfinished, and forgets it.
    ///
    /// A finished file or object stays, and the transfer is forgotten without an event. For an
    /// upload that has parts at the store, the provider is asked if this process does not know what
    /// it moves. If the process ends meanwhile, the next ``run()`` continues.
    ///
    /// - Throws: `SyncError`: `notFound`; `locked` if it is being cancelled or added; what the
    ///   provider throws, or the error that prevented the deletion: the transfer is then paused,
    ///   and another `cancel` tries again. ``forget(_:)`` needs no provider and no store.
    public func cancel(_ identifier: String) async throws(SyncError) {
        let id = try staying(identifier)
        if entries[id]?.transfer.state == .finished { return try await drop(id) }
        entries[id]?.wanted = .cancelled
        do throws(SyncError) {
            // A process that is killed from here on leaves the rest to the next.
            try await save(id)
            await stop(id)
            try await finishCancelling(id)
        } catch {
            await rest(id)
            throw error
        }
    }

    /// Forgets a transfer, whatever it does, and asks nobody: stops it and deletes what it left on
    /// this machine.
    ///
    /// A finished file or object stays. Parts of an unfinished upload stay at the store until
    /// ``MultipartUpload/abort()`` or a rule of the bucket deletes them. It is told
    /// as cancelled if it had not finished.
    ///
    /// - Throws: `SyncError`: `notFound`; `locked` if it is being cancelled or added; `localState`
    ///   if something could not be deleted: the transfer is then paused.
    public func forget(_ identifier: String) async throws(SyncError) {
        let id = try staying(identifier)
        if entries[id]?.transfer.state == .finished { return try await drop(id) }
        entries[id]?.wanted = .forgotten
        await stop(id)
        do throws(SyncError) {
            if entries[id]?.transfer.state == .finished { return try await drop(id) }
            try await discardHere(id)
            try await drop(id, telling: .cancelled)
        } catch {
            await rest(id)
            throw error
        }
    }

    /// One that could not be removed is paused.
    private func rest(_ id: ObjectKey) async {
        let isFinished = entries[id]?.transfer.state == .finished
        entries[id]?.wanted = isFinished ? .nothing : .paused
        if !isFinished { entries[id]?.transfer.state = .paused }
        // The failure that is told came first.
        try? await save(id)
    }

    /// One that is not about to leave.
    func staying(_ identifier: String) throws(SyncError) -> ObjectKey {
        let id = try known(identifier)
        guard entries[id]?.isLeaving == false, !arriving.contains(id) else {
            throw leaving(identifier)
        }
        return id
    }

    /// Stops it at once and waits for that.
    private func stop(_ id: ObjectKey) async {
        queue.removeAll { $0 == id }
        guard entries[id]?.transfer.state == .running else {
            entries[id]?.transfer.state = .paused
            return
        }
        entries[id]?.question?.abandon()
        entries[id]?.work?.stop()
        await suspend(id)
    }

    /// Deletes what a transfer left that was stopped in order to cancel it.
    func finishCancelling(_ id: ObjectKey) async throws(SyncError) {
        guard let entry = entries[id] else { return }
        guard entry.transfer.state != .finished else { return try await drop(id) }
        if entry.transfer.kind == .upload {
            guard let work = try await work(id, of: entry.transfer.id) else {
                throw .interrupted
            }
            try await work.discard()
        }
        try await discardHere(id)
        try await drop(id, telling: .cancelled)
    }

    private func discardHere(_ id: ObjectKey) async throws(SyncError) {
        guard let transfer = entries[id]?.transfer else { return }
        let index = index
        try await onDisk { () throws(LocalError) in try index.discard(transfer) }
    }

    private func drop(
        _ id: ObjectKey,
        telling kind: TransferEvent.Kind? = nil
    ) async throws(SyncError) {
        guard let entry = entries[id] else { return }
        let (index, identifier) = (index, entry.transfer.id)
        try await onDisk { () throws(LocalError) in try index.remove(identifier) }
        // Another one of this name may have come while the disk was at work; it stays.
        guard entries[id]?.number == entry.number else { return }
        if let kind { notify(kind, id) }
        entries[id] = nil
        if let file = entry.file, files[file] == id { files[file] = nil }
        broadcaster.forget(identifier)
    }
}
