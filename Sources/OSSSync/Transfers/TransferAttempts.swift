internal import SyncEngine

/// The attempts at one transfer, in either direction: one at a time, each with its end.
struct TransferAttempts: Sendable {
    /// How an attempt ended that did not fail.
    enum Ending<Value: Sendable>: Sendable {
        case finished(Value)
        case paused
        case cancelled
    }

    /// What messages call it, safe to print.
    let subject: String
    let streams: Int
    /// Bytes that a pause may cost.
    var pauseLoss: Int64 = 0
    let reconnects: ReconnectPolicy?
    let progressInterval: Duration
    /// What the transfer is after an attempt that was given up.
    let stateWhenCancelled: TransferState
    let onNotice: @Sendable (TransferNotice) -> Void
    let control = TransferControl()
    let progressState = ProgressState()
    let environment = SystemClocks.engine(hostName: "")

    var progress: TransferProgressSequence {
        TransferProgressSequence(
            progressState: progressState,
            interval: progressInterval,
            sleep: environment.sleep
        )
    }

    /// A transfer cannot be paused before it has begun; from here on, a pause takes effect.
    ///
    /// - Throws: If an attempt is under way already.
    func begin() throws(SyncError) -> PauseGate {
        try control.begin(pauseLoss: pauseLoss, subject)
    }

    /// Runs an attempt that was begun, again after a lost connection if that is wanted.
    ///
    /// `outcome` is asked before anybody can begin the next attempt.
    func run<Value: Sendable, Outcome: Sendable>(
        _ gate: PauseGate,
        _ attempt: @escaping @Sendable () async throws(ItemFailure) -> Value,
        outcome: (Ending<Value>) async -> Outcome
    ) async throws(SyncError) -> Outcome {
        let result = await Reconnection(
            policy: reconnects,
            environment: environment,
            progressState: progressState,
            onNotice: onNotice
        ).run(gate, attempt)
        switch result {
        case .success(let value):
            return end(.finished, await outcome(.finished(value)))
        case .failure(.cancelled) where control.isCancelling:
            return end(stateWhenCancelled, await outcome(.cancelled))
        case .failure(.cancelled) where gate.isRaised && !Task.isCancelled:
            return end(.paused, await outcome(.paused), isOver: false)
        case .failure(let failure):
            throw end(failure == .cancelled ? .paused : .failed, SyncError(failure, of: subject))
        }
    }

    /// The attempt has ended; `isOver` if listeners should not wait for another attempt.
    func end<Outcome>(_ state: TransferState, _ outcome: Outcome, isOver: Bool = true) -> Outcome {
        progressState.end(isOver: isOver)
        control.end(state)
        return outcome
    }

    /// The transfer was given up while it rested, or after its attempt was stopped.
    func giveUp() {
        // Parts that are kept stay as they were.
        if stateWhenCancelled == .cancelled { control.settle(.cancelled) }
        progressState.end(isOver: true)
    }
}
