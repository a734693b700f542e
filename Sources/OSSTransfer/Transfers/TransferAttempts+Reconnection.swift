internal import ObjectTransfer
internal import SyncModel

extension TransferAttempts {
    /// Tries a transfer again that lost its connection, as often as its policy says; never without
    /// one.
    func reconnecting<Value: Sendable>(
        _ gate: PauseGate,
        _ attempt: @escaping @Sendable () async throws(ItemFailure) -> Value
    ) async -> Result<Value, ItemFailure> {
        var failures = 0
        while true {
            let before = progressState.snapshot.moved
            let version = network.version
            let result = await gate.running(environment, attempt)
            guard case .failure(let failure) = result, failure.isPassing, let reconnects,
                !gate.isRaised
            else { return result }
            // What moved shows that there was a network in between.
            if progressState.snapshot.moved > before { failures = 0 }
            failures += 1
            guard failures <= reconnects.attempts else { return result }
            let pause = reconnects.pause(after: failures - 1)
            progressState.rest()
            progressState.lose()
            onNotice(.waiting(pause: pause, message: failure.message))
            guard await gate.wait(pause, waking(after: version)) else {
                return .failure(.cancelled)
            }
        }
    }

    /// The environment, whose sleeps end when there may be a network again.
    private func waking(after version: Int) -> EngineEnvironment {
        let (network, sleep) = (network, environment.sleep)
        var waking = environment
        waking.sleep = { try await network.wait(after: version, atMost: $0, sleep) }
        return waking
    }
}

extension Condition {
    /// Waits until it is raised, or for a time.
    ///
    /// - Throws: If the task is cancelled.
    func wait(
        after version: Int,
        atMost duration: Duration,
        _ sleep: @escaping @Sendable (Duration) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await sleep(duration) }
            group.addTask { await self.wait(after: version) }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}
