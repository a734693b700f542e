public import SyncEngine
internal import SyncModel

extension TransferManager {
    /// Runs what was started and what will be, until the task is cancelled.
    ///
    /// Cancelling the task stops the transfers under way at once; they wait, and go on with the
    /// next run, here or in another process.
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
            throw SyncError(code: .locked, message: "another task runs the transfers already")
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
            // From here to the beginning of the attempt nobody else has his say.
            if entries[id]?.wish == nil, !Task.isCancelled {
                entries[id]?.work = work
                let attempt = try work.begin()
                tell(.started, entry)
                if let result = try await run(attempt, work, entry) { ending = .finished(result) }
            }
        } catch {
            // What is cancelled without anybody's wish was so by the app's own closures.
            let isStopped = entries[id]?.wish != nil && error.code == .cancelled
            ending = isStopped || Task.isCancelled ? .stopped : .failed(error)
        }
        await settle(id, ending)
    }

    /// Tells how far it is while it runs.
    private func run(
        _ attempt: ManagedWork.Attempt,
        _ work: ManagedWork,
        _ entry: Entry
    ) async throws(SyncError) -> TransferResult? {
        let (hub, identifier, listener) = (hub, entry.transfer.identifier, entry.listener)
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await progress in work.progress {
                    let event = TransferEvent(identifier: identifier, kind: .progress(progress))
                    hub.post(event)
                    if let listener { event.tell(listener) }
                }
            }
            let result: Result<TransferResult?, SyncError>
            do throws(SyncError) {
                result = .success(try await attempt.run())
            } catch {
                result = .failure(error)
            }
            // The last progress of one that has finished is told; that of any other never ends.
            if case .success(.some) = result {} else { group.cancelAll() }
            await group.waitForAll()
            return result
        }
        return try result.get()
    }

    private func settle(_ id: ObjectKey, _ ending: Ending) async {
        guard var entry = entries[id] else { return }
        let wish = entry.wish
        entry.transfer = entry.current
        var kind: TransferEvent.Kind?
        switch ending {
        case .finished(let result):
            entry.transfer.state = .finished
            entry.job = nil
            kind = .finished(result)
        case .failed(let error):
            entry.transfer.state = .failed
            // The addresses or credentials may be what failed: the next attempt asks for others.
            if entry.isAsked { entry.job = nil }
            kind = .failed(error)
        case .stopped where wish == nil:
            entry.transfer.state = .waiting
            queue.insert(id, at: 0)
        case .stopped:
            entry.transfer.state = .paused
            // Whoever cancels tells so when all is cleared up.
            if wish == .pause { kind = .paused }
        }
        let waiters = entry.waiters
        (entry.work, entry.wish, entry.waiters) = (nil, nil, [])
        entries[id] = entry
        // What is not written down here costs the next process a look at what there is.
        try? await save(id)
        if let kind { tell(kind, entry) }
        for waiter in waiters { waiter.resume() }
        signal.raise()
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
        let hub = hub
        return try job.work(directory: directory) { notice in
            hub.post(TransferEvent(identifier: identifier, kind: .notice(notice)))
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
                message: "'\(displayText(identifier))': nobody says what it moves: \(text)",
                underlying: error
            )
        }
    }
}
