internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// What is done for a transfer.
protocol TransferWork<Outcome>: Sendable {
    associatedtype Outcome: Sendable

    var attempts: TransferAttempts { get }
    /// What a cancelled transfer comes to.
    var cancelled: Outcome { get }
    /// Transfers what is missing; an error of code `cancelled` after a pause.
    func attempt(_ gate: PauseGate) async throws(TransferError) -> Outcome
    /// Reads what is needed to resume.
    func paused() async throws(TransferError) -> Outcome
    /// Deletes what is unfinished.
    func discard() async throws(TransferError)
}

/// A transfer that any task can pause, resume and cancel, at any time.
///
/// ```swift
/// let transfer = download.start()
/// transfer.pause()
/// transfer.resume()
/// let outcome = try await transfer.value
/// ```
///
/// The calls return at once. What was asked last counts, whether the work has begun, is under way
/// or has stopped: a transfer that is paused before its work begins sends no request. ``value``
/// returns when the transfer has stopped. A finished transfer stays finished.
///
/// A transfer that was started runs to its end even if the handle is released.
public final class Transfer<Outcome: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Result<Outcome, TransferError>, Never>

    private struct State {
        var intent = TransferIntent()
        /// Of the attempt under way.
        var gate: PauseGate?
        /// Of the last time that it stopped.
        var result: Result<Outcome, TransferError>?
        /// By tickets, because one of them may give up.
        var waiters: [UInt64: Waiter] = [:]
        var lastTicket: UInt64 = 0
    }

    private let work: any TransferWork<Outcome>
    /// Where it can be found while it runs; nil for one of a manager.
    private let place: RunningTransfers.Place?
    private let lock = Mutex(State())

    init(_ work: some TransferWork<Outcome>, at place: RunningTransfers.Place? = nil) {
        self.work = work
        self.place = place
    }

    private var attempts: TransferAttempts { work.attempts }

    /// Where the transfer is; `running` until it has stopped.
    public var state: TransferState { lock.withLock { $0.intent.state } }

    /// How far it is, until the transfer stops or has finished.
    public var progress: TransferProgress.Updates { attempts.progress }

    /// How the transfer ended when it stopped: waits while it runs, or until it was started.
    ///
    /// Cancelling the task that waits ends the wait, and has no effect on the transfer.
    ///
    /// - Throws: `TransferError` if the transfer failed; ``resume()`` tries again. Of code
    ///   `cancelled` if the task that waits was cancelled before.
    public var value: Outcome {
        get async throws(TransferError) {
            let (ticket, subject) = (nextTicket(), attempts.subject)
            let cancelled: @Sendable () -> Result<Outcome, TransferError> = {
                .failure(TransferError(ItemFailure.cancelled, of: subject))
            }
            let result = await withTaskCancellationHandler {
                await self.result(ticket) { Task.isCancelled ? cancelled() : nil }
            } onCancel: {
                lock.withLock { $0.waiters.removeValue(forKey: ticket) }?
                    .resume(returning: cancelled())
            }
            return try result.get()
        }
    }

    /// Stops the transfer so that it can be resumed, also by another process.
    ///
    /// A download receives what has arrived at this machine, until no more than
    /// ``DownloadOptions/pauseLoss`` is missing; then it closes its connections. An upload sends
    /// parts under way again later, at most one for each stream. Has no effect on a transfer that
    /// is not running.
    public func pause() { tell(.pause) }

    /// Starts the transfer again where it stopped, after a pause, a failure or a cancellation.
    ///
    /// A transfer that is being paused or cancelled starts again once it has stopped.
    public func resume() { tell(.run) }

    /// Stops the transfer at once.
    ///
    /// If something cannot be deleted, ``value`` throws, the record is kept, and another `cancel`
    /// tries again. A transfer that finishes meanwhile is finished.
    ///
    /// - Parameter keepingParts: False deletes what is unfinished: the partial file or the parts at
    ///   the store, and the record. True keeps them for a later ``resume()``, also of another
    ///   process.
    public func cancel(keepingParts: Bool = false) { tell(.cancel(keepsParts: keepingParts)) }

    /// Ends the wait after a lost connection, if the transfer waits: it tries again at once.
    ///
    /// For an app that is told that there is a network again.
    public func networkChanged() { attempts.network.raise() }

    /// Starts or resumes it, and waits for its end as ``ending()`` does.
    func run() async throws(TransferError) -> Outcome {
        resume()
        return try await ending()
    }

    /// Waits for the result; cancelling the task cancels the transfer and keeps its parts.
    func ending() async throws(TransferError) -> Outcome {
        let result = await withTaskCancellationHandler {
            await self.result(nextTicket()) { nil }
        } onCancel: {
            cancel(keepingParts: true)
        }
        if Task.isCancelled, case .success = result, state == .cancelled {
            throw TransferError(ItemFailure.cancelled, of: attempts.subject)
        }
        return try result.get()
    }

    /// How far it is.
    var snapshot: ProgressState.Snapshot { attempts.progressState.snapshot }

    private func nextTicket() -> UInt64 {
        lock.withLock { state in
            state.lastTicket += 1
            return state.lastTicket
        }
    }

    private func result(
        _ ticket: UInt64,
        unless isCancelled: @escaping @Sendable () -> Result<Outcome, TransferError>?
    ) async -> Result<Outcome, TransferError> {
        await withCheckedContinuation { continuation in
            let result = lock.withLock { state -> Result<Outcome, TransferError>? in
                if !state.intent.isActive, let result = state.result { return result }
                // A cancellation from here on finds the waiter.
                if let cancelled = isCancelled() { return cancelled }
                state.waiters[ticket] = continuation
                return nil
            }
            if let result { continuation.resume(returning: result) }
        }
    }
}

// MARK: - Carrying it out

extension Transfer {
    private func tell(_ command: TransferCommand) {
        let (begins, gate) = lock.withLock { state in
            let begins = state.intent.accept(command)
            if begins {
                attempts.progressState.start()
                if let place { RunningTransfers.shared.add(self, at: place) }
            }
            return (begins, state.intent.stopsAttempt ? state.gate : nil)
        }
        switch command {
        case .pause: gate?.raise()
        case .cancel: gate?.cut()
        case .run: break
        }
        if begins { starting { await self.carryOut() } }
    }

    private func carryOut() async {
        while let (step, gate) = nextStep() {
            let result = await carryOut(step, gate)
            let waiters = lock.withLock { state -> [UInt64: Waiter]? in
                state.gate = nil
                guard state.intent.ended(Self.ending(step, result)) else { return nil }
                attempts.progressState.end()
                if place != nil { RunningTransfers.shared.remove(self) }
                state.result = result
                defer { state.waiters = [:] }
                return state.waiters
            }
            guard let waiters else { continue }
            // From here on the next command has a task of its own.
            for waiter in waiters.values { waiter.resume(returning: result) }
            return
        }
    }

    private func nextStep() -> (TransferIntent.Step, PauseGate)? {
        lock.withLock { state in
            guard let step = state.intent.next() else { return nil }
            let gate = PauseGate(maximumLoss: attempts.pauseLoss)
            if step == .attempt { state.gate = gate }
            return (step, gate)
        }
    }

    private func carryOut(
        _ step: TransferIntent.Step,
        _ gate: PauseGate
    ) async -> Result<Outcome, TransferError> {
        do throws(TransferError) {
            switch step {
            case .attempt: return .success(try await work.attempt(gate))
            case .pause: return .success(try await work.paused())
            case .stop: return .success(work.cancelled)
            case .discard:
                try await work.discard()
                return .success(work.cancelled)
            }
        } catch {
            return .failure(error)
        }
    }

    private static func ending(
        _ step: TransferIntent.Step,
        _ result: Result<Outcome, TransferError>
    ) -> TransferIntent.Ending {
        switch result {
        case .success: .done
        case .failure(let error): step == .attempt && error.code == .cancelled ? .stopped : .failed
        }
    }
}
