internal import ObjectTransfer
internal import SyncModel

/// A limit of the options was reached; the run ends as if it was interrupted, but without an error.
struct LimitReached: Error {
    let limit: RunLimit
}

/// The limits that end a run early.
extension MirrorRun {
    private static let interval = Duration.milliseconds(200)

    /// Runs `work` until it ends or a limit is reached, whose end is awaited as well: checkpoints
    /// are written, and nothing is deleted any more.
    ///
    /// - Throws: ``LimitReached``, or what `work` throws.
    func withLimits(
        _ parts: Parts,
        since start: Duration,
        _ work: @escaping @Sendable (Parts) async throws -> Void
    ) async throws {
        guard options.maximumTransfer != nil || options.maximumDuration != nil else {
            return try await work(parts)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work(parts) }
            group.addTask { try await waitForLimit(parts, since: start) }
            defer { group.cancelAll() }
            // The work ends, or the limit throws.
            try await group.next()
        }
    }

    private func waitForLimit(_ parts: Parts, since start: Duration) async throws {
        let (tracker, environment) = (parts.context.tracker, settings.environment)
        while true {
            let left = options.maximumDuration.map { $0 - (environment.monotonic() - start) }
            if let left, left <= .zero { throw LimitReached(limit: .duration) }
            if let most = options.maximumTransfer, tracker.bytesMoved >= most {
                throw LimitReached(limit: .transfer)
            }
            let pause = options.maximumTransfer == nil ? left : Self.interval
            try await environment.sleep(min(left ?? Self.interval, pause ?? Self.interval))
        }
    }
}
