/// Spreads requests over time once the service has throttled.
///
/// A bound on the requests in flight alone lets a service that answers fast refuse most of them.
/// After a refusal the pace is a little below what the service has answered lately; while it
/// refuses nothing the pace rises, slowly at first. It knows no clock.
struct RequestPace {
    private static let window = Duration.seconds(1)
    /// Of what was answered lately.
    private static let share = 0.9
    /// Requests a second.
    private static let slowest = 8.0
    private static let unlimited = 100_000.0
    private static let smallestRaise = 0.01
    /// Where nothing tells yet what the service allows.
    private static let firstRaise = 0.5

    /// Requests a second; nil while there is no limit.
    private(set) var rate: Double?
    private var raise = smallestRaise
    private var raisedAt = Duration.zero
    private var next = Duration.zero
    private var windowStart: Duration
    private var answers = 0
    /// Answers a second in the last whole window; nil before there was one.
    private var answered: Double?

    init(now: Duration) {
        windowStart = now
    }

    /// A request succeeded.
    mutating func succeeded(now: Duration) {
        answers += 1
        let elapsed = now - windowStart
        guard elapsed >= Self.window else { return }
        answered = Double(answers) / (elapsed / .seconds(1))
        windowStart = now
        answers = 0
    }

    /// The service refused a request because there were too many.
    mutating func throttled(now: Duration) {
        let elapsed = max(Self.window, now - windowStart) / .seconds(1)
        let measured = max(answered ?? 0, Double(answers) / elapsed)
        rate = max(Self.slowest, min(measured, rate ?? .infinity) * Self.share)
        raise = answered == nil ? Self.firstRaise : Self.smallestRaise
        raisedAt = now
        next = now
    }

    /// How long the next request waits.
    mutating func wait(now: Duration) -> Duration {
        guard var rate else { return .zero }
        if now - raisedAt >= Self.window {
            rate *= 1 + raise
            raise = min(1, raise * 2)
            raisedAt = now
            self.rate = rate < Self.unlimited ? rate : nil
        }
        let start = max(now, next)
        next = start + .seconds(1 / rate)
        return start - now
    }
}
