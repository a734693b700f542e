internal import Synchronization

/// Judges by byte counts and times whether the transport may move more now.
///
/// A bucket of tokens that may go into debt by what one callback of libcurl moves, which the pause
/// after it makes up for, so that the average holds.
struct TokenBucket {
    /// What may be saved up while little moves.
    private static let burst = Duration.milliseconds(250)

    private let bytesPerSecond: Double
    private let capacity: Double
    private var allowance: Double
    private var last: Duration

    /// `now` is an instant of a monotonic clock, as its distance from any fixed one.
    init(bytesPerSecond: Int64, now: Duration) {
        self.bytesPerSecond = Double(max(1, bytesPerSecond))
        capacity = self.bytesPerSecond * Self.burst.secondsAsDouble
        allowance = capacity
        last = now
    }

    mutating func moved(_ bytes: Int) {
        allowance -= Double(bytes)
    }

    /// How long nothing may move; zero if something may.
    mutating func pause(now: Duration) -> Duration {
        allowance = min(allowance + (now - last).secondsAsDouble * bytesPerSecond, capacity)
        last = now
        guard allowance < 0 else { return .zero }
        return .seconds(-allowance / bytesPerSecond)
    }
}

/// What all requests of the transports that have it may move together, both ways; it may change
/// while they run.
package final class BandwidthLimit: Sendable {
    /// How often the limit is read, and the longest pause, after which it may be another one.
    private static let interval = Duration.seconds(1)

    private struct State {
        var bytesPerSecond: Int64?
        /// Nil while there is no limit.
        var bucket: TokenBucket?
        var nextReading: Duration
    }

    private let start = SuspendingClock.now
    /// Bytes in a second; nil for no limit now.
    private let current: @Sendable () -> Int64?
    private let state: Mutex<State>

    package init(_ current: @escaping @Sendable () -> Int64?) {
        self.current = current
        let found = current()
        state = Mutex(
            State(
                bytesPerSecond: found,
                bucket: found.map { TokenBucket(bytesPerSecond: $0, now: .zero) },
                nextReading: Self.interval
            )
        )
    }

    package convenience init(_ bytesPerSecond: Int64) {
        self.init { bytesPerSecond }
    }

    func moved(_ bytes: Int) { state.withLock { $0.bucket?.moved(bytes) } }

    /// How long nothing may move; zero if something may.
    var pause: Duration {
        let now = SuspendingClock.now - start
        return state.withLock { state in
            if now >= state.nextReading {
                state.nextReading = now + Self.interval
                let found = current()
                if found != state.bytesPerSecond {
                    state.bytesPerSecond = found
                    state.bucket = found.map { TokenBucket(bytesPerSecond: $0, now: now) }
                }
            }
            return min(state.bucket?.pause(now: now) ?? .zero, Self.interval)
        }
    }
}

/// The meter of one transport, which its callbacks ask before they move anything.
///
/// Unchecked, because only the transport's thread uses it.
final class BandwidthLimiter: @unchecked Sendable {
    private let limit: BandwidthLimit
    /// True if a transfer waits for leave.
    private(set) var holdsBack = false

    init(_ limit: BandwidthLimit) { self.limit = limit }

    /// False if the transfer that asks must pause until ``pause`` is over.
    func mayMove() -> Bool {
        guard pause > .zero else { return true }
        holdsBack = true
        return false
    }

    func moved(_ bytes: Int) { limit.moved(bytes) }

    /// How long nothing may move; zero if something may.
    var pause: Duration { limit.pause }

    /// Transfers were told to go on.
    func letGo() { holdsBack = false }
}

extension Duration {
    fileprivate var secondsAsDouble: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
