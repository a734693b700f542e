internal import SyncEngine
internal import SyncModel

extension TransferManager {
    /// Runs what was started and what will be, until the task is cancelled.
    ///
    /// Cancelling the task stops the active transfers at once; they wait, and resume with the next
    /// run, in this or another process.
    ///
    /// - Throws: `SyncError` of code `locked` if another task runs the transfers already.
    public func run() async throws(SyncError) {
        try await run(untilIdle: false)
    }

    /// Runs what was started and what will be, until nothing runs or waits any more, or the task is
    /// cancelled.
    ///
    /// - Throws: `SyncError` of code `locked` if another task runs the transfers already.
    public func runUntilIdle() async throws(SyncError) {
        try await run(untilIdle: true)
    }

    private func run(untilIdle: Bool) async throws(SyncError) {
        guard !isRunning else {
            throw SyncError(code: .locked, message: "another task is already running the transfers")
        }
        isRunning = true
        defer { isRunning = false }
        do {
            try await forEachBounded(
                limit: limit,
                next: { await self.next(untilIdle) },
                body: { await self.perform($0) }
            )
        } catch {
            throw SyncError(code: .cancelled, message: "the transfers were stopped: \(error)")
        }
    }

    /// The transfer whose turn it is; nil at the end.
    private func next(_ untilIdle: Bool) async -> ObjectKey? {
        while !Task.isCancelled {
            let version = signal.version
            if let id = queue.first {
                queue.removeFirst()
                entries[id]?.transfer.state = .running
                return id
            }
            let isIdle = !entries.values.contains { $0.transfer.state == .running }
            if untilIdle, isIdle { return nil }
            await signal.wait(after: version)
        }
        return nil
    }
}

// MARK: - One transfer

extension TransferManager {
    private enum Ending {
        case finished(TransferResult)
        case stopped
        case failed(SyncError)
    }

    /// Runs a transfer to its end, or until it is stopped.
    private func perform(_ id: ObjectKey) async {
        guard let entry = entries[id] else { return }
        var ending = Ending.stopped
        do throws(SyncError) {
            let work = try await work(id, of: entry.transfer.identifier)
            // From here to the beginning of the attempt nothing else can intervene.
            if entries[id]?.command == nil, !Task.isCancelled {
                entries[id]?.work = work
                let attempt = try work.begin()
                notify(.started, id)
                if let result = try await run(attempt, work, id) { ending = .finished(result) }
            }
        } catch {
            // Cancelled without a command: the app's own closures cancelled it.
            let isStopped = entries[id]?.command != nil && error.code == .cancelled
            ending = isStopped || Task.isCancelled ? .stopped : .failed(error)
        }
        await settle(id, ending)
    }

    /// Reports progress while it runs.
    private func run(
        _ attempt: ManagedWork.Attempt,
        _ work: ManagedWork,
        _ id: ObjectKey
    ) async throws(SyncError) -> TransferResult? {
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await progress in work.progress { await self.notify(.progress(progress), id) }
            }
            let result: Result<TransferResult?, SyncError>
            do throws(SyncError) {
                result = .success(try await attempt.run())
            } catch {
                result = .failure(error)
            }
            // The last progress of a finished transfer is delivered; that of any other never ends.
            if case .success(.some) = result {} else { group.cancelAll() }
            await group.waitForAll()
            return result
        }
        return try result.get()
    }

    private func settle(_ id: ObjectKey, _ ending: Ending) async {
        var (command, transfer, kind) = (
            PendingCommand?.none, ManagedTransfer?.none, TransferEvent.Kind?.none
        )
        // It counts as running until the end is recorded and reported, so that nothing starts it in
        // between. A pause or cancel in between takes effect.
        repeat {
            guard let entry = entries[id] else { return }
            command = entry.command
            let settled = settled(entry, ending)
            (transfer, kind) = settled
            await note(settled.transfer, entry)
        } while entries[id]?.command != command
        guard var entry = entries[id], let transfer else { return }
        entry.transfer = transfer
        switch ending {
        case .finished: entry.job = nil
        // The addresses or credentials may be what failed: the next attempt asks for others.
        case .failed: if entry.isAsked { entry.job = nil }
        case .stopped: if command == nil { queue.insert(id, at: 0) }
        }
        let waiters = entry.waiters
        (entry.work, entry.command, entry.waiters) = (nil, nil, [])
        entries[id] = entry
        if let kind { notify(kind, id) }
        for waiter in waiters { waiter.resume() }
        signal.raise()
    }

    /// Writes down how it ended, and only then forgets its record, by which the next process would
    /// find that it has finished.
    private func note(_ transfer: ManagedTransfer, _ entry: Entry) async {
        do {
            try await save(transfer, entry.number)
            if transfer.state == .finished { try await entry.work?.forgetRecord() }
        } catch {
            // What is not written down here costs the next process a look at what there is.
            _ = error
        }
    }

    /// The state of a transfer after its end, and the event to send.
    private func settled(
        _ entry: Entry,
        _ ending: Ending
    ) -> (transfer: ManagedTransfer, kind: TransferEvent.Kind?) {
        var transfer = entry.current
        var kind: TransferEvent.Kind?
        switch ending {
        case .finished(let result): (transfer.state, kind) = (.finished, .finished(result))
        case .failed(let error): (transfer.state, kind) = (.failed, .failed(error))
        case .stopped where entry.command == nil: transfer.state = .waiting
        // `cancel` sends the event itself once everything is removed.
        case .stopped: (transfer.state, kind) = (.paused, entry.command == .pause ? .paused : nil)
        }
        return (transfer, kind)
    }

    /// The transfer itself, made anew: it finds what there is in its record.
    func work(_ id: ObjectKey, of identifier: String) async throws(SyncError) -> ManagedWork {
        let job: TransferJob
        if let known = entries[id]?.job {
            job = known
        } else {
            job = try await ask(identifier)
            entries[id]?.isAsked = true
        }
        entries[id]?.job = job
        let broadcaster = broadcaster
        return try job.work(directory: directory) { notice in
            broadcaster.post(TransferEvent(identifier: identifier, kind: .notice(notice)))
        }
    }

    func ask(_ identifier: String) async throws(SyncError) -> TransferJob {
        do {
            return try await provider(identifier)
        } catch let error as SyncError {
            throw error
        } catch {
            let text = displayText(String(describing: error))
            throw SyncError(
                code: .credentials,
                message: "'\(displayText(identifier))': the provider returned no transfer for "
                    + "this identifier: \(text)",
                underlying: error
            )
        }
    }
}
