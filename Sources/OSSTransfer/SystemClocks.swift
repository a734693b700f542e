package import ObjectStorage
package import ObjectTransfer
package import SyncModel

/// The real clocks and chance, handed to the layers below in one value each.
package enum SystemClocks {
    private static let start = ContinuousClock.now

    @Sendable package static func now() -> Timestamp {
        let (seconds, nanoseconds) = WallClock.now()
        return Timestamp(seconds: seconds, nanoseconds: nanoseconds)
    }

    @Sendable static func sleep(_ duration: Duration) async throws {
        try await Task.sleep(for: duration)
    }

    @Sendable static func randomUnit() -> Double {
        Double.random(in: 0..<1)
    }

    package static func engine(hostName: String) -> EngineEnvironment {
        EngineEnvironment(
            now: now,
            monotonic: { ContinuousClock.now - start },
            sleep: sleep,
            randomUnit: randomUnit,
            hostName: hostName
        )
    }

    package static func storage(
        _ monitor: TransferMonitor? = nil,
        observe: @escaping @Sendable (StorageObservation) -> Void
    ) -> StorageEnvironment {
        var environment = StorageEnvironment(
            now: now,
            sleep: sleep,
            randomUnit: randomUnit,
            observe: observe
        )
        guard let monitor else { return environment }
        environment.observe = { observation in
            monitor.observe(observation)
            observe(observation)
        }
        environment.onBytes = { monitor.count(sent: $0, received: $1) }
        return environment
    }
}
