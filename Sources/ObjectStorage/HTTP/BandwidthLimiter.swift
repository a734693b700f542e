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

/// The meter of one transport, which its callbacks ask before they move anything.
///
/// Unchecked, because only the transport's thread uses it.
final class BandwidthLimiter: @unchecked Sendable {
    private let start = SuspendingClock.now
    private var bucket: TokenBucket
    /// True if a transfer waits for leave.
    private(set) var holdsBack = false

    init(bytesPerSecond: Int64) {
        bucket = TokenBucket(bytesPerSecond: bytesPerSecond, now: .zero)
    }

    /// False if the transfer that asks must pause until ``pause`` is over.
    func mayMove() -> Bool {
        guard pause > .zero else { return true }
        holdsBack = true
        return false
    }

    func moved(_ bytes: Int) { bucket.moved(bytes) }

    /// How long nothing may move; zero if something may.
    var pause: Duration { bucket.pause(now: SuspendingClock.now - start) }

    /// Transfers were told to go on.
    func letGo() { holdsBack = false }
}

extension Duration {
    fileprivate var secondsAsDouble: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
