internal import Synchronization

/// An OSS-compatible server for demonstrations and tests: objects are files below a directory,
/// signatures are verified, and a ``FaultScript`` can make it misbehave.
package final class StorageServer: Sendable {
    private let core: ServerCore
    private let daemon = Mutex<Daemon?>(nil)

    /// Opens the directory; listens only after ``start()``.
    package init(configuration: ServerConfiguration) throws {
        core = try ServerCore(configuration)
    }

    /// Begins to serve; returns the port.
    @discardableResult
    package func start() throws -> Int {
        try daemon.withLock { daemon in
            if let daemon { return daemon.port }
            let started = try Daemon(core: core)
            let port = started.port
            daemon = started
            return port
        }
    }

    /// Ends all connections; a server that was stopped does not start again.
    package func stop() {
        daemon.withLock { $0 = nil }
    }

    /// `http://ADDRESS:PORT`; the port is 0 unless the server runs.
    package var url: String {
        let port = daemon.withLock { $0?.port ?? 0 }
        return "http://\(core.configuration.listenAddress):\(port)"
    }

    /// What was asked so far, in the order in which requests began.
    package var requestLog: [RequestRecord] {
        core.settleLog()
        return core.log.all
    }

    /// Forgets what was asked so far, and what is under way.
    package func clearRequestLog() {
        core.log.clear()
    }

    /// Replaces the fault script; occurrences are counted from here, and held requests go on.
    package func setFaults(_ script: FaultScript) {
        core.faults.load(script)
    }

    /// Returns when the script holds so many requests; at once if it holds none.
    package func untilHeld(_ count: Int) async {
        await core.faults.untilHeld(count)
    }
}
