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
    ///   - allowsExpensiveNetwork: False if it waits while the network is expensive; see
    ///     ``networkChanged(isExpensive:isConstrained:)``.
    ///   - allowsConstrainedNetwork: False if it waits while the network is constrained.
    /// - Throws: `TransferError`: `alreadyExists` if there is one of this ID that has not
    ///   finished, or one that downloads to the same file; `configuration` for an ID that
    ///   is empty or longer than 1,024 bytes; `localState` if it can't be written down;
    ///   what the provider throws.
    public func add(
        _ id: String,
        job: TransferJob? = nil,
        priority: Int = 0,
        allowsExpensiveNetwork: Bool = true,
        allowsConstrainedNetwork: Bool = true
    ) async throws(TransferError) {
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
            networks: TransferJob.NetworkTraits(
                isExpensive: allowsExpensiveNetwork,
                isConstrained: allowsConstrainedNetwork
            )
        )
        try await add(transfer, known, isAsked: job == nil)
    }

    /// Adds a transfer of which only the kind and the file are known yet, and asks nobody: what it
    /// moves is asked of the provider when it runs.
    ///
    /// - Parameters:
    ///   - id: As in the other `add`.
    ///   - kind: Whether it is a download or an upload; the provider must return the same.
    ///   - path: The file's path.
    ///   - context: What the app wants to know of it in another process, at most 64 KiB; stored in
    ///     the directory: not a secret.
    ///   - priority: Of those that wait, one with a higher priority starts first.
    ///   - allowsExpensiveNetwork: False if it waits while the network is expensive; see
    ///     ``networkChanged(isExpensive:isConstrained:)``.
    ///   - allowsConstrainedNetwork: False if it waits while the network is constrained.
    /// - Throws: `TransferError` as the other `add`, but nothing of the
    ///   provider; `configuration` also for a context that is too long.
    public func add(
        _ id: String,
        kind: TransferJob.Kind,
        path: String,
        context: String = "",
        priority: Int = 0,
        allowsExpensiveNetwork: Bool = true,
        allowsConstrainedNetwork: Bool = true
    ) async throws(TransferError) {
        try Self.check(id)
        guard context.utf8.count <= Self.longestContext else {
            throw TransferError(
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
            networks: TransferJob.NetworkTraits(
                isExpensive: allowsExpensiveNetwork,
                isConstrained: allowsConstrainedNetwork
            )
        )
        try await add(transfer, nil, isAsked: true)
    }

    private static func check(_ id: String) throws(TransferError) {
        guard (1...longestID).contains(id.utf8.count) else {
            throw TransferError(
                code: .configuration,
                message: "an ID has 1 to \(longestID) bytes"
            )
        }
    }

    private func add(
        _ transfer: ManagedTransfer,
        _ job: TransferJob?,
        isAsked: Bool
    ) async throws(TransferError) {
        let id = transfer.id
        let key = try requireFree(id)
        arriving.insert(key)
        defer { arriving.remove(key) }
        let file = await file(of: transfer.kind, transfer.path)
        if let file {
            guard hasNoOther(file, but: key) else {
                throw TransferError(
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
            isAsked: isAsked
        )
        try await save(entry.transfer, entry.number)
        // Nothing could start or pause it before, so nothing has to be undone.
        entries[key] = entry
    }

    /// - Throws: `alreadyExists` if there is one that has not finished, or is being added.
    @discardableResult
    private func requireFree(_ id: String) throws(TransferError) -> ObjectKey {
        let key = ObjectKey(id)
        let isFree =
            entries[key].map { $0.transfer.state == .finished && !$0.isLeaving } ?? true
        guard isFree, !arriving.contains(key) else {
            throw TransferError(
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
    private func answer(to id: String) async throws(TransferError) -> TransferJob {
        let question = ProviderQuestion(id, provider, providerLimit)
        do {
            return try await question.ask(environment)
        } catch let error as TransferError {
            throw error
        } catch {
            throw .interrupted
        }
    }
}

// MARK: - Starting and pausing

extension TransferManager {
    /// Starts a transfer when its turn comes, or resumes one that was paused, failed or was
    /// cancelled.
    ///
    /// Nothing happens to one that waits, runs or has finished. One that is being paused runs again
    /// at its turn.
    ///
    /// - Throws: `TransferError`: `notFound`, `locked` if it is being cancelled; `localState` if it
    ///   can't be written down, and then it is not started.
    public func start(_ id: String) async throws(TransferError) {
        let key = try known(id)
        guard entries[key]?.isLeaving == false else { throw leaving(id) }
        try await start([key])
    }

    /// Those that can be started take their turns together, when all are written down: the one with
    /// the highest priority runs first, not the one that was written down first.
    private func start(_ keys: [ObjectKey]) async throws(TransferError) {
        var written: [ObjectKey] = []
        defer { for key in written { takeTurn(key) } }
        for key in keys {
            try await want(key)
            written.append(key)
        }
    }

    /// Writes down that a transfer is to run.
    private func want(_ key: ObjectKey) async throws(TransferError) {
        // Another call may have removed it meanwhile.
        guard let entry = entries[key], !entry.isLeaving else { return }
        switch entry.transfer.state {
        case .waiting, .finished: return
        case .running where entry.wanted == .running: return
        case .running, .ready, .paused, .failed, .cancelled: break
        }
        entries[key]?.wanted = .running
        entries[key]?.transfer.pauseReason = nil
        do throws(TransferError) {
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
    func takeTurn(_ key: ObjectKey) {
        guard let entry = entries[key], entry.wanted == .running else { return }
        switch entry.transfer.state {
        case .ready, .paused, .failed, .cancelled: break
        case .running, .waiting, .finished: return
        }
        entries[key]?.transfer.state = .waiting
        entries[key]?.transfer.forgetError()
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
    /// - Throws: `TransferError`: `notFound`; `locked` if it is being added or cancelled;
    ///   `localState` if it can't be written down: it holds in this process only.
    public func setPriority(_ priority: Int, of id: String) async throws(TransferError) {
        let key = try staying(id)
        entries[key]?.transfer.priority = priority
        if let place = queue.firstIndex(of: key) {
            queue.remove(at: place)
            queueUp(key)
        }
        try await save(key)
    }

    /// Changes over which networks a transfer may run, besides those that are neither expensive nor
    /// constrained.
    ///
    /// One that runs over another network stops, and waits for one that is allowed.
    ///
    /// - Throws: `TransferError`: `notFound`; `locked` if it is being added or cancelled;
    ///   `localState` if it can't be written down: it holds in this process only.
    public func setNetworks(
        allowsExpensive: Bool,
        allowsConstrained: Bool,
        of id: String
    ) async throws(TransferError) {
        let key = try staying(id)
        entries[key]?.transfer.networks = TransferJob.NetworkTraits(
            isExpensive: allowsExpensive,
            isConstrained: allowsConstrained
        )
        followNetwork()
        try await save(key)
    }

    /// Stops a transfer so that it can be resumed later, also in another process, and waits until
    /// it has stopped.
    ///
    /// Waits for no provider. A process that is killed meanwhile leaves the transfer paused. Does
    /// nothing if it is not running or waiting.
    ///
    /// - Throws: `TransferError`: `notFound`, `localState`.
    public func pause(_ id: String) async throws(TransferError) {
        try await pause([try known(id)])
    }

    /// Pauses all running and waiting transfers, and waits until they have stopped.
    ///
    /// - Parameter reason: Kept with each of them for ``resumeAll(reason:)``, also in another
    ///   process, such as `background`.
    /// - Throws: `TransferError` of code `localState` if the state of one could not be recorded:
    ///   all have stopped nevertheless, and that one waits again in the next process.
    public func pauseAll(reason: String? = nil) async throws(TransferError) {
        try await pause(ordered { $0.wanted == .running }, reason: reason)
    }

    /// Starts all transfers that wait for their first start, in the order in which they were added.
    ///
    /// - Throws: As ``start(_:)``; those before it are started.
    public func startAll() async throws(TransferError) {
        try await start(ordered { $0.transfer.state == .ready })
    }

    /// Resumes all transfers that ``pauseAll(reason:)`` paused for this reason, and no other; nil:
    /// all that are paused.
    ///
    /// - Throws: As ``start(_:)``; those before it are resumed.
    public func resumeAll(reason: String? = nil) async throws(TransferError) {
        let paused = ordered { entry in
            entry.wanted == .paused && (reason == nil || entry.transfer.pauseReason == reason)
        }
        try await start(paused)
    }

    /// Those that match, in the order in which they were added.
    func ordered(_ matches: (ManagedEntry) -> Bool) -> [ObjectKey] {
        entries.filter { matches($0.value) }.sorted { $0.value.number < $1.value.number }
            .map(\.key)
    }

    private func pause(_ ids: [ObjectKey], reason: String? = nil) async throws(TransferError) {
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
        var failure: TransferError?
        for key in ids {
            do throws(TransferError) { try await save(key) } catch { failure = failure ?? error }
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
