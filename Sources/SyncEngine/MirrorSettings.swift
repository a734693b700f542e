package import LocalStorage
package import ObjectStorage
package import SyncModel

/// Everything outside that the engine needs; made at the entry point, and a fake in tests.
package struct EngineEnvironment: Sendable {
    /// The wall clock, for records and names; never for waiting.
    package var now: @Sendable () -> Timestamp
    /// A clock that never steps, from an arbitrary start.
    package var monotonic: @Sendable () -> Duration
    /// Throws `CancellationError` when the task is cancelled.
    package var sleep: @Sendable (Duration) async throws -> Void
    /// From 0 to below 1.
    package var randomUnit: @Sendable () -> Double
    package var hostName: String
    /// For how long the machine has been on, sleep included; nil if it does not tell.
    package var sinceBoot: @Sendable () -> Duration? = SystemCalls.sinceBoot
    /// The system's own; one thread in a simulation.
    package var threads = BlockingThreads.system

    package init(
        now: @escaping @Sendable () -> Timestamp,
        monotonic: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        randomUnit: @escaping @Sendable () -> Double,
        hostName: String
    ) {
        self.now = now
        self.monotonic = monotonic
        self.sleep = sleep
        self.randomUnit = randomUnit
        self.hostName = hostName
    }

    /// `count` random characters of the 32 that are hard to confuse.
    func randomName(_ count: Int) -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
        let bytes = (0..<count).map { _ in
            alphabet[min(alphabet.count - 1, Int(randomUnit() * Double(alphabet.count)))]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

/// Which remote a manifest was made with; another one is refused.
package struct RemoteIdentity: Sendable, Hashable {
    /// `oss` or `s3`.
    package let dialect: String
    package let endpointHost: String
    package let bucket: String
    package let prefix: String

    package init(dialect: String, endpointHost: String, bucket: String, prefix: String) {
        self.dialect = dialect
        self.endpointHost = endpointHost
        self.bucket = bucket
        self.prefix = prefix
    }
}

/// One directory, one remote and the means to reach both.
package struct MirrorSettings: Sendable {
    /// The mirrored directory.
    package var directory: String
    /// Where the state is, if not in the directory's `.osssync`.
    package var stateDirectory: String?
    /// The user's home directory, which is refused as a mirror; nil if there is none.
    package var homeDirectory: String?
    /// Empty, or ending in "/".
    package var prefix: ObjectKey
    package var identity: RemoteIdentity
    /// The remote as messages show it.
    package var displayRemote: String
    package var store: any ObjectStore
    package var signal: ThrottleSignal
    package var environment: EngineEnvironment
    /// The system's own; tests make them fail.
    package var systemCalls = SystemCalls.standard
    package var limits = EngineLimits.standard

    package init(
        directory: String,
        stateDirectory: String?,
        homeDirectory: String?,
        prefix: ObjectKey,
        identity: RemoteIdentity,
        displayRemote: String,
        store: any ObjectStore,
        signal: ThrottleSignal,
        environment: EngineEnvironment
    ) {
        self.directory = directory
        self.stateDirectory = stateDirectory
        self.homeDirectory = homeDirectory
        self.prefix = prefix
        self.identity = identity
        self.displayRemote = displayRemote
        self.store = store
        self.signal = signal
        self.environment = environment
    }
}
