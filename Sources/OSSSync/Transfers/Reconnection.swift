internal import SyncEngine

/// Tries a transfer again that lost its connection, as often as its policy says.
struct Reconnection: Sendable {
    /// Nil: never.
    let policy: ReconnectPolicy?
    let environment: EngineEnvironment
    let progressState: ProgressState
    let onNotice: @Sendable (TransferNotice) -> Void

    func run<Value: Sendable>(
        _ gate: PauseGate,
        _ attempt: @escaping @Sendable () async throws(ItemFailure) -> Value
    ) async -> Result<Value, ItemFailure> {
        var failures = 0
        while true {
            let before = progressState.snapshot.moved
            let result = await gate.running(environment, attempt)
            guard case .failure(let failure) = result, failure.isPassing, let policy,
                !gate.isRaised
            else { return result }
            // What moved shows that there was a network in between.
            if progressState.snapshot.moved > before { failures = 0 }
            failures += 1
            guard failures <= policy.attempts else { return result }
            let pause = policy.pause(after: failures - 1)
            onNotice(.waiting(pause, message: failure.message))
            progressState.rest()
            guard await gate.wait(pause, environment) else { return .failure(.cancelled) }
        }
    }
}
