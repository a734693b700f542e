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

/// What all requests of a transport may move together, both ways; it may change while they run.
package struct BandwidthLimit: Sendable {
    /// Bytes in a second; nil for no limit now.
    let current: @Sendable () -> Int64?

    package init(_ current: @escaping @Sendable () -> Int64?) {
        self.current = current
    }

    package init(_ bytesPerSecond: Int64) {
        current = { bytesPerSecond }
    }
}

/// The meter of one transport, which its callbacks ask before they move anything.
///
/// Unchecked, because only the transport's thread uses it.
final class BandwidthLimiter: @unchecked Sendable {
    /// How often the limit is read, and the longest pause, after which it may be another one.
    private static let interval = Duration.seconds(1)

    private let start = SuspendingClock.now
    private let limit: BandwidthLimit
    private var bytesPerSecond: Int64?
    /// Nil while there is no limit.
    private var bucket: TokenBucket?
    private var nextReading: Duration
    /// True if a transfer waits for leave.
    private(set) var holdsBack = false

    init(_ limit: BandwidthLimit) {
        self.limit = limit
        bytesPerSecond = limit.current()
        bucket = bytesPerSecond.map { TokenBucket(bytesPerSecond: $0, now: .zero) }
        nextReading = Self.interval
    }

    /// False if the transfer that asks must pause until ``pause`` is over.
    func mayMove() -> Bool {
        guard pause > .zero else { return true }
        holdsBack = true
        return false
    }

    func moved(_ bytes: Int) { bucket?.moved(bytes) }

    /// How long nothing may move; zero if something may.
    var pause: Duration {
        let now = SuspendingClock.now - start
        if now >= nextReading {
            nextReading = now + Self.interval
            let found = limit.current()
            if found != bytesPerSecond {
                bytesPerSecond = found
                bucket = found.map { TokenBucket(bytesPerSecond: $0, now: now) }
            }
        }
        return min(bucket?.pause(now: now) ?? .zero, Self.interval)
    }

    /// Transfers were told to go on.
    func letGo() { holdsBack = false }
}

extension Duration {
    fileprivate var secondsAsDouble: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
