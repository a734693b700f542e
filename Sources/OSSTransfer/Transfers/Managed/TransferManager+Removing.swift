internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

extension TransferManager {
    /// Forgets a transfer that finished; its file or object stays.
    ///
    /// - Throws: `SyncError`: `notFound`; `refused` if it has not finished: cancel it;
    ///   `localState`.
    public func remove(_ id: String) async throws(SyncError) {
        let key = try known(id)
        guard entries[key]?.transfer.state == .finished, !arriving.contains(key) else {
            throw SyncError(
                code: .refused,
                message: "'\(displayText(id))' has not finished; cancel it instead"
            )
        }
        try await drop(key)
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
    public func cancel(_ id: String) async throws(SyncError) {
        let key = try staying(id)
        if entries[key]?.transfer.state == .finished { return try await drop(key) }
        entries[key]?.wanted = .cancelled
        do throws(SyncError) {
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
    /// A finished file or object stays. Parts of an unfinished upload stay at the store until
    /// ``MultipartUpload/abort()`` or a rule of the bucket deletes them. It is told
    /// as cancelled if it had not finished.
    ///
    /// - Throws: `SyncError`: `notFound`; `locked` if it is being cancelled or added; `localState`
    ///   if something could not be deleted: the transfer is then paused.
    public func forget(_ id: String) async throws(SyncError) {
        let key = try staying(id)
        if entries[key]?.transfer.state == .finished { return try await drop(key) }
        entries[key]?.wanted = .forgotten
        await stop(key)
        do throws(SyncError) {
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
    func staying(_ id: String) throws(SyncError) -> ObjectKey {
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
        entries[key]?.work?.stop()
        await suspend(key)
    }

    /// Deletes what a transfer left that was stopped in order to cancel it.
    func finishCancelling(_ key: ObjectKey) async throws(SyncError) {
        guard let entry = entries[key] else { return }
        guard entry.transfer.state != .finished else { return try await drop(key) }
        if entry.transfer.kind == .upload {
            guard let work = try await work(key, of: entry.transfer.id) else {
                throw .interrupted
            }
            try await work.discard()
        }
        try await discardHere(key)
        try await drop(key, telling: .cancelled)
    }

    private func discardHere(_ key: ObjectKey) async throws(SyncError) {
        guard let transfer = entries[key]?.transfer else { return }
        let index = index
        try await onDisk { () throws(LocalError) in try index.discard(transfer) }
    }

    private func drop(
        _ key: ObjectKey,
        telling kind: TransferEvent.Kind? = nil
    ) async throws(SyncError) {
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
