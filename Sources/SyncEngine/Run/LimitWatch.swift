internal import ObjectTransfer

/// A limit of the options was reached; the run ends as if it was interrupted, but without an error.
struct LimitReached: Error {
    let limit: RunLimit
}

/// The limits that end a run early.
struct LimitWatch: Sendable {
    let options: RunOptions
    let budget: TransferBudget
    let environment: EngineEnvironment

    private static let interval = Duration.milliseconds(200)
    /// What is under way may take so long to end, and no longer.
    private static let grace = Duration.seconds(30)

    /// Runs `work` until it ends or a limit is reached, whose end is awaited as well: checkpoints
    /// are written, and nothing is deleted any more.
    ///
    /// - Throws: ``LimitReached``, or what `work` throws.
    func run(
        since start: Duration,
        _ work: @escaping @Sendable () async throws -> Void
    ) async throws {
        guard options.maximumTransfer != nil || options.maximumDuration != nil else {
            return try await work()
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            group.addTask { try await waitForLimit(since: start) }
            defer { group.cancelAll() }
            // The work ends, or the limit throws.
            try await group.next()
        }
    }

    /// When a limit is reached, what is under way gets time to end: else a run with a small limit
    /// might stop in the middle of every part, and none of them would ever get anywhere.
    private func waitForLimit(since start: Duration) async throws {
        var reached: (limit: RunLimit, at: Duration)?
        var wasIdle = false
        while true {
            let elapsed = environment.monotonic() - start
            if reached == nil, let most = options.maximumDuration, elapsed >= most {
                budget.close()
                reached = (.duration, elapsed)
            } else if reached == nil, budget.isSpent {
                reached = (.transfer, elapsed)
            }
            if let reached {
                // Between two requests of one file nothing is under way for a moment.
                let isIdle = budget.isIdle
                let isOver = isIdle && wasIdle || elapsed - reached.at >= Self.grace
                if isOver || !budget.isTransferring { throw LimitReached(limit: reached.limit) }
                wasIdle = isIdle
            }
            var pause = Self.interval
            if reached == nil, let most = options.maximumDuration {
                let left = max(most - elapsed, .milliseconds(1))
                pause = options.maximumTransfer == nil ? left : min(left, pause)
            }
            try await environment.sleep(pause)
        }
    }
}
