internal import LocalStorage
internal import ObjectTransfer
internal import SyncModel

extension TransferManager {
    private static let longestID = 1_024
    private static let longestContext = 64 << 10

    /// Adds a transfer, which runs once it is started.
    ///
    /// - Parameters:
    ///   - id: The app's own name for it, which is stored in the directory and shown in
    ///     messages: not a secret. Identifiers are compared by their bytes.
    ///   - job: What it moves; nil asks the provider.
    ///   - priority: Of those that wait, one with a higher priority starts first.
    ///   - networks: The networks over which it may run; see ``networkChanged(to:)``.
    ///   - listener: Notified of its events; nil for none. After a restart, use
    ///     ``setListener(_:for:)``.
    /// - Throws: `SyncError`: `alreadyExists` if there is one of this ID that has not
    ///   finished, or one that downloads to the same file; `configuration` for an ID that
    ///   is empty or longer than 1,024 bytes; `localState` if it can't be written down;
    ///   what the provider throws.
    public func add(
        _ id: String,
        job: TransferJob? = nil,
        priority: Int = 0,
        networks: NetworkTraits = [.expensive, .constrained],
        listener: (any TransferListener)? = nil
    ) async throws(SyncError) {
        try Self.check(id)
        // Before the provider is asked.
        try requireFree(id)
        let known: TransferJob
        if let job {
            known = job
        } else {
            known = try await answer(to: id)
        }
        let transfer = ManagedTransfer(
            id: id,
            kind: known.kind,
            path: known.path,
            context: "",
            priority: priority,
            networks: networks
        )
        try await add(transfer, known, listener, isAsked: job == nil)
    }

    /// Adds a transfer of which only the kind and the file are known yet, and asks nobody: what it
    /// moves is asked of the provider when it runs.
    ///
    /// - Parameters:
    ///   - id: As in ``add(_:job:priority:networks:listener:)``.
    ///   - kind: Whether it is a download or an upload; the provider must return the same.
    ///   - path: The file's path.
    ///   - context: What the app wants to know of it in another process, at most 64 KiB; stored in
    ///     the directory: not a secret.
    ///   - priority: Of those that wait, one with a higher priority starts first.
    ///   - networks: The networks over which it may run; see ``networkChanged(to:)``.
    ///   - listener: Notified of its events; nil for none.
    /// - Throws: `SyncError` as ``add(_:job:priority:networks:listener:)``, but nothing of the
    ///   provider; `configuration` also for a context that is too long.
    public func add(
        _ id: String,
        kind: TransferJob.Kind,
        path: String,
        context: String = "",
        priority: Int = 0,
        networks: NetworkTraits = [.expensive, .constrained],
        listener: (any TransferListener)? = nil
    ) async throws(SyncError) {
        try Self.check(id)
        guard context.utf8.count <= Self.longestContext else {
            throw SyncError(
                code: .configuration,
                message: "the context of a transfer has at most \(Self.longestContext) bytes"
            )
        }
        let transfer = ManagedTransfer(
            id: id,
            kind: kind,
            path: path,
            context: context,
            priority: priority,
            networks: networks
        )
        try await add(transfer, nil, listener, isAsked: true)
    }

    private static func check(_ id: String) throws(SyncError) {
        guard (1...longestID).contains(id.utf8.count) else {
            throw SyncError(
                code: .configuration,
                message: "an ID has 1 to \(longestID) bytes"
            )
        }
    }

    private func add(
        _ transfer: ManagedTransfer,
        _ job: TransferJob?,
        _ listener: (any TransferListener)?,
        isAsked: Bool
    ) async throws(SyncError) {
        let id = transfer.id
        let key = try requireFree(id)
        arriving.insert(key)
        defer { arriving.remove(key) }
        let file = await file(of: transfer.kind, transfer.path)
        if let file {
            guard hasNoOther(file, but: key) else {
                throw SyncError(
                    code: .alreadyExists,
                    message: "'\(displayText(id))': another transfer downloads to "
                        + "'\(displayText(transfer.path))'"
                )
            }
            files[file] = key
        }
        lastNumber += 1
        let entry = ManagedEntry(
            number: lastNumber,
            transfer: transfer,
            file: file,
            job: job,
            isAsked: isAsked,
            mailbox: ListenerMailbox(listenerThreads, listener)
        )
        try await save(entry.transfer, entry.number)
        // Nothing could start or pause it before, so nothing has to be undone.
        entries[key] = entry
    }

    /// - Throws: `alreadyExists` if there is one that has not finished, or is being added.
    @discardableResult
    private func requireFree(_ id: String) throws(SyncError) -> ObjectKey {
        let key = ObjectKey(id)
        let isFree =
            entries[key].map { $0.transfer.state == .finished && !$0.isLeaving } ?? true
        guard isFree, !arriving.contains(key) else {
            throw SyncError(
                code: .alreadyExists,
                message: "'\(displayText(id))': this transfer already exists"
            )
        }
        return key
    }

    /// Notes where a transfer downloads to by now; nil for an upload.
    func owns(_ file: String?, _ key: ObjectKey) {
        if let old = entries[key]?.file, old != file, files[old] == key { files[old] = nil }
        entries[key]?.file = file
        if let file, hasNoOther(file, but: key) { files[file] = key }
    }

    /// The one path of a download's file; nil for an upload, and where there is no such directory.
    func file(of kind: TransferJob.Kind, _ path: String) async -> String? {
        guard kind == .download else { return nil }
        return await disk.run { try? RecordPlace.relative(path, to: nil) }
    }

    /// True if no other unfinished transfer downloads to the file.
    private func hasNoOther(_ file: String, but key: ObjectKey) -> Bool {
        guard let other = files[file], other != key else { return true }
        guard let entry = entries[other] else { return !arriving.contains(other) }
        return entry.transfer.state == .finished
    }

    /// The provider's answer, which an app waits for.
    private func answer(to id: String) async throws(SyncError) -> TransferJob {
        let question = ProviderQuestion(id, provider, providerLimit)
        do {
            return try await question.ask(environment)
        } catch let error as SyncError {
            throw error
        } catch {
            throw .interrupted
        }
    }

    /// Replaces the listener of a transfer, also of a running one; nil removes it.
    public func setListener(
        _ listener: (any TransferListener)?,
        for id: String
    ) throws(SyncError) {
        let key = try known(id)
        entries[key]?.mailbox.setListener(listener)
    }
}
