package import SyncModel

/// Hears that requests of a task wait for a connection.
///
/// Transfers of one bucket share a client, which cannot know for which of them a request is: the
/// task that makes the request knows.
package struct ConnectionWatch: Sendable {
    /// Of the requests of this task and of those it starts.
    @TaskLocal package static var current: ConnectionWatch?

    /// A request waits before it is tried again.
    package struct Wait: Sendable {
        /// Why there is no connection.
        package let error: StorageError
        /// The pause before the next try, of this request or of the one that tries for all.
        package let pause: Duration
    }

    /// Raised when there may be a network again: ends a pause.
    private let network: Condition
    private let onWait: @Sendable (Wait) -> Void

    package init(network: Condition, onWait: @escaping @Sendable (Wait) -> Void) {
        self.network = network
        self.onWait = onWait
    }

    /// - Parameters:
    ///   - error: Why there is no connection; nil if it has been found meanwhile.
    ///   - pause: The pause before the next try.
    static func waits(_ error: StorageError?, _ pause: Duration) {
        guard let current, let error else { return }
        current.onWait(Wait(error: error, pause: pause))
    }

    /// Tells of a pause, and sleeps until its end or until there may be a network again.
    ///
    /// - Parameters:
    ///   - pause: How long.
    ///   - error: Why.
    ///   - isTold: False for a connection that will most likely be replaced at once.
    ///   - environment: The clock.
    /// - Throws: If the task was cancelled.
    static func sleep(
        _ pause: Duration,
        after error: StorageError,
        isTold: Bool = true,
        _ environment: StorageEnvironment
    ) async throws {
        guard let network = current?.network else { return try await environment.sleep(pause) }
        // Before it is told: what is answered to that must not be missed.
        let version = network.version
        if isTold { waits(error, pause) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await environment.sleep(pause) }
            group.addTask { await network.wait(after: version) }
            try await group.next()
            group.cancelAll()
        }
        try Task.checkCancellation()
    }
}
