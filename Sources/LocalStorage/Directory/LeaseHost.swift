internal import Dispatch
internal import SyncModel

/// The clock of a lease, and a way to let time go by.
package struct LeaseClock: Sendable {
    package let now: @Sendable () -> Duration
    package let wait: @Sendable (Duration) -> Void

    package init(
        now: @escaping @Sendable () -> Duration,
        wait: @escaping @Sendable (Duration) -> Void
    ) {
        (self.now, self.wait) = (now, wait)
    }

    static let system = LeaseClock(
        now: { SystemCalls.bootTime },
        wait: { time in
            let end = DispatchTime.now() + .milliseconds(time.milliseconds)
            _ = DispatchSemaphore(value: 0).wait(timeout: end)
        }
    )
}

/// The machine that a lease is held on: the system's own, or one of a simulation.
package struct LeaseHost: Sendable {
    /// Processes as one of them sees them.
    package struct Processes: Sendable {
        let hostName: String
        let namespace: String
        /// Of the process itself.
        let number: Int32
        /// When a process began; nil if there is none of the number.
        let start: @Sendable (Int32) -> String?

        package init(
            hostName: String,
            namespace: String,
            number: Int32,
            start: @escaping @Sendable (Int32) -> String?
        ) {
            (self.hostName, self.namespace) = (hostName, namespace)
            (self.number, self.start) = (number, start)
        }
    }

    /// Calls `giveSign` again and again, with `interval` between, until it is false.
    package typealias Keep =
        @Sendable (
            _ interval: Duration, _ giveSign: @escaping @Sendable () -> Bool
        ) -> Void

    let clock: LeaseClock
    /// Nil for the system's.
    let processes: Processes?
    /// Nil for a thread for each lease.
    let keep: Keep?

    package init(clock: LeaseClock, processes: Processes, keep: @escaping Keep) {
        (self.clock, self.processes, self.keep) = (clock, processes, keep)
    }

    private init() { (clock, processes, keep) = (.system, nil, nil) }

    static let system = LeaseHost()
}
