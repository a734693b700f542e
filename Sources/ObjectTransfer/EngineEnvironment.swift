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
    package func randomName(_ count: Int) -> String {
        let alphabet = Array("abcdefghijkmnpqrstuvwxyz23456789".utf8)
        // One number has 53 random bits, and a character takes 5 of them.
        let charactersPerNumber = 10
        var unit = 0.0
        let bytes = (0..<count).map { position in
            if position % charactersPerNumber == 0 { unit = randomUnit() }
            unit *= Double(alphabet.count)
            let index = min(alphabet.count - 1, Int(unit))
            unit -= Double(index)
            return alphabet[index]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension EngineEnvironment {
    /// The machine's name as it can be part of any file's name: at most 32 letters, digits and
    /// hyphens.
    package var safeHostName: String {
        let host = hostName.utf8.prefix(32).filter { $0.isLetterOrDigit(or: "-") }
        return String(decoding: host, as: UTF8.self)
    }
}
