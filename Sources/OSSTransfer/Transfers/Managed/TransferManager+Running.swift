internal import ObjectStorage
internal import ObjectTransfer
internal import SyncModel

extension TransferManager {
    /// Runs what was started and what will be, until the task is cancelled.
    ///
    /// Cancelling the task stops the active transfers at once; they wait, and resume with the next
    /// run, in this or another process.
    ///
    /// - Throws: `TransferError` of code `locked` if another task runs the transfers already.
    public func run() async throws(TransferError) {
        try await run(untilIdle: false)
    }

    /// Runs what was started and what will be, until nothing runs or waits any more, or the task is
    /// cancelled.
    ///
    /// Does not wait for transfers that may not run over the network of now.
    ///
    /// - Throws: `TransferError` of code `locked` if another task runs the transfers already.
    public func runUntilIdle() async throws(TransferError) {
        try await run(untilIdle: true)
    }

    private func run(untilIdle: Bool) async throws(TransferError) {
        guard !isRunning else {
            throw TransferError(
                code: .locked,
                message: "another task is already running the transfers"
            )
        }
        isRunning = true
        defer { isRunning = false }
        // How many that are at once can change meanwhile.
        await withDiscardingTaskGroup { group in
            while let key = await next(untilIdle) { group.addTask { await self.perform(key) } }
        }
    }

    /// The transfer whose turn it is, as soon as fewer run than the limit; nil at the end.
    private func next(_ untilIdle: Bool) async -> ObjectKey? {
        while !Task.isCancelled {
            let version = signal.version
            let place = queue.firstIndex {
                suitsNetwork($0) || entries[$0]?.transfer.state == .cancelled
            }
            if let place, activeCount < limit {
                let key = queue.remove(at: place)
                switch entries[key]?.transfer.state {
                case .waiting: entries[key]?.transfer.state = .running
                case .cancelled: break
                default: continue
                }
                activeCount += 1
                return key
            }
            if untilIdle, place == nil, activeCount == 0 { return nil }
            await signal.wait(after: version)
        }
        return nil
    }
}

// MARK: - One transfer

extension TransferManager {
    private enum Ending {
        case finished(TransferJob.Outcome)
        case stopped
        case failed(TransferError)
    }

    /// Runs a transfer to its end, or until it is stopped.
    private func perform(_ key: ObjectKey) async {
        defer {
            activeCount -= 1
            signal.raise()
        }
        guard let entry = entries[key] else { return }
        guard entry.transfer.state == .running else { return await continueCancelling(key) }
        var ending = Ending.stopped
        do throws(TransferError) {
            // It may be paused while the provider is asked.
            if let work = try await work(key, of: entry.transfer.id),
                entries[key]?.wanted == .running, suitsNetwork(key), !Task.isCancelled
            {
                entries[key]?.work = work
                entries[key]?.pace = TransferPace()
                entries[key]?.pace.note(work.snapshot.moved, at: environment.monotonic())
                work.resume()
                notify(.started, key)
                if let result = try await follow(work, key) { ending = .finished(result) }
            }
        } catch {
            ending = Task.isCancelled ? .stopped : .failed(error)
        }
        await settle(key, ending)
    }

    /// Carries out what an earlier process was asked for and did not finish.
    private func continueCancelling(_ key: ObjectKey) async {
        guard let entry = entries[key], !entry.isLeaving else { return }
        entries[key]?.wanted = .cancelled
        do throws(TransferError) {
            try await finishCancelling(key)
        } catch {
            // The next process tries again, and the app can forget it.
            entries[key]?.wanted = .nothing
            notify(.failed(error), key)
        }
    }

    /// Reports progress while it runs.
    private func follow(
        _ work: any ManagedWork,
        _ key: ObjectKey
    ) async throws(TransferError) -> TransferJob.Outcome? {
        let result = await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await progress in work.progress { await self.notify(.progress(progress), key) }
            }
            let result: Result<TransferJob.Outcome?, TransferError>
            do throws(TransferError) {
                result = .success(try await work.result())
            } catch {
                result = .failure(error)
            }
            await group.waitForAll()
            return result
        }
        return try result.get()
    }

    private func settle(_ key: ObjectKey, _ ending: Ending) async {
        var (wanted, transfer, kind) = (
            ManagedEntry.Wanted.nothing, ManagedTransfer?.none, TransferEvent.Kind?.none
        )
        // It counts as running until the end is recorded and reported, so that nothing starts it in
        // between. What is asked for in between takes effect.
        repeat {
            guard let entry = entries[key] else { return }
            wanted = entry.wanted
            let settled = settled(entry, ending)
            (transfer, kind) = settled
            // What is not written down here costs the next process a look at what there is.
            try? await save(settled.transfer, entry.number)
        } while entries[key]?.wanted != wanted
            || entries[key]?.transfer.priority != transfer?.priority
            || entries[key]?.transfer.networks != transfer?.networks
        guard var entry = entries[key], let transfer else { return }
        entry.transfer = transfer
        switch ending {
        case .finished: (entry.job, entry.wanted) = (nil, entry.isLeaving ? wanted : .nothing)
        case .failed:
            // The addresses or credentials may be what failed: the next attempt asks for others.
            if entry.isAsked { entry.job = nil }
            if !entry.isLeaving { entry.wanted = .nothing }
        case .stopped: break
        }
        let waiters = entry.waiters
        (entry.work, entry.waiters) = (nil, [])
        entries[key] = entry
        if transfer.state == .waiting { queueUp(key, beforeEqual: true) }
        if let kind { notify(kind, key) }
        for waiter in waiters { waiter.resume() }
        signal.raise()
    }

    /// The state of a transfer after its end, and the event to send.
    private func settled(
        _ entry: ManagedEntry,
        _ ending: Ending
    ) -> (transfer: ManagedTransfer, kind: TransferEvent.Kind?) {
        var transfer = entry.current
        switch (ending, entry.wanted) {
        case (.finished(let result), _):
            transfer.state = .finished
            return (transfer, .finished(result))
        case (.failed(let error), _):
            transfer.fail(error)
            return (transfer, .failed(error))
        case (.stopped, .running), (.stopped, .nothing):
            transfer.state = .waiting
            return (transfer, nil)
        case (.stopped, .paused):
            transfer.state = .paused
            return (transfer, .paused)
        // What stopped it tells of the end itself once everything is removed.
        case (.stopped, .cancelled), (.stopped, .forgotten):
            transfer.state = .cancelled
            return (transfer, nil)
        }
    }

    /// The transfer itself, made anew: it finds what there is in its record.
    ///
    /// Nil if it was stopped while the provider was asked.
    func work(_ key: ObjectKey, of id: String) async throws(TransferError) -> (any ManagedWork)? {
        let job: TransferJob
        if let known = entries[key]?.job {
            job = known
        } else {
            let question = AbandonableCall<TransferJob>()
            entries[key]?.question = question
            defer { entries[key]?.question = nil }
            guard let answer = try await ask(key, of: id, question) else { return nil }
            job = answer
            entries[key]?.isAsked = true
        }
        guard entries[key]?.transfer.kind == job.kind else {
            throw TransferError(
                code: .configuration,
                message: "'\(displayText(id))': the provider returned a transfer of the "
                    + "other kind, \(job.kind)"
            )
        }
        entries[key]?.job = job
        // The app's container may have moved.
        entries[key]?.transfer.path = job.path
        owns(await file(of: job.kind, job.path), key)
        let (broadcaster, index, changes) = (broadcaster, index, changes)
        let base = await disk.run { index.base(above: job.path) }
        return try job.work(id, directory: directory, base: base) { notice in
            broadcaster.post(TransferEvent(id: id, kind: .notice(notice)))
            changes.raise()
        }
    }

    /// Asks the provider, and again while it can't reach its server; nil if the wait was ended
    /// before.
    func ask(
        _ key: ObjectKey,
        of id: String,
        _ question: AbandonableCall<TransferJob>
    ) async throws(TransferError) -> TransferJob? {
        let (provider, limit) = (ProviderQuestion(id, provider, providerLimit), reconnects)
        let (environment, network) = (environment, reachable)
        let ending = await question.run {
            var failures = 0
            while true {
                let version = network.version
                do {
                    return try await provider.ask(environment)
                } catch let error as TransferError where error.isRetryable {
                    guard let limit, failures < limit.attempts else { throw error }
                    let pause = limit.pause(after: failures)
                    failures += 1
                    await self.wait(key, pause, error.message)
                    try await network.wait(after: version, atMost: pause, environment.sleep)
                }
            }
        }
        entries[key]?.isProviderAway = false
        switch ending {
        case .returned(.success(let job)): return job
        case .returned(.failure(let error as TransferError)): throw error
        case .returned(.failure), .timedOut, .abandoned: return nil
        }
    }

    /// The provider could not reach its server.
    private func wait(_ key: ObjectKey, _ pause: Duration, _ message: String) {
        entries[key]?.isProviderAway = true
        notify(.notice(.waiting(pause: pause, message: message)), key)
    }
}

/// Asks the provider of a manager once.
struct ProviderQuestion: Sendable {
    private let id: String
    private let provider: TransferManager.Provider
    private let limit: Duration

    init(_ id: String, _ provider: @escaping TransferManager.Provider, _ limit: Duration) {
        self.id = id
        self.provider = provider
        self.limit = limit
    }

    /// - Throws: `TransferError`, or that the wait was ended.
    func ask(_ environment: EngineEnvironment) async throws -> TransferJob {
        let (id, provider, question) = (id, provider, AbandonableCall<TransferJob>())
        let ending = await question.run(limit: limit, sleep: environment.sleep) {
            try await provider(id)
        }
        let name = "'\(displayText(id))'"
        switch ending {
        case .returned(.success(let job)): return job
        case .returned(.failure(let error)):
            // One that the app throws of its own accord is an answer as any other.
            if error is CancellationError, Task.isCancelled { throw error }
            switch AppFailure(error) {
            case .passing(let reason):
                throw TransferError(
                    code: .remoteUnreachable,
                    message: "\(name): to the provider: \(reason)",
                    underlying: error
                )
            case .refused(let reason, let code):
                throw TransferError(
                    code: TransferError.Code(ofApp: code),
                    message: "\(name): the provider returned no transfer for this ID: \(reason)",
                    underlying: error,
                    isRetryable: false
                )
            }
        case .timedOut:
            // Most likely it waits for a server: the network is what may come back.
            throw TransferError(
                code: .remoteUnreachable,
                message: "\(name): the provider returned no transfer for this ID within \(limit)"
            )
        case .abandoned: throw CancellationError()
        }
    }
}
