/// Spreads requests over time once the service has throttled.
///
/// A bound on the requests in flight alone lets a service that answers fast refuse most of them.
/// When it refuses many, the pace becomes a little below what the service has answered lately;
/// while it refuses few the pace rises, slowly at first. A refusal now and then says nothing of a
/// limit: stores answer so while they move data, at any pace. It knows no clock.
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
    /// How many of the latest answers the share of refusals is of, each older one counting less.
    private static let memory = 128.0
    /// The share of refusals that shows a limit, and the smaller one that shows it again.
    private static let limitingShare = 0.12
    private static let knownLimitingShare = 0.06
    /// The shortest time that says how much the service answers.
    private static let shortestMeasurement = Duration.milliseconds(250)

    /// Requests a second; nil while there is no limit.
    private(set) var rate: Double?
    private var raise = smallestRaise
    private var raisedAt = Duration.zero
    private var next = Duration.zero
    private var windowStart: Duration
    private var answers = 0
    /// Answers a second in the last whole window; nil before there was one.
    private var answered: Double?
    /// Of the latest answers, how many were refusals.
    private var refusedShare = 0.0

    init(now: Duration) {
        windowStart = now
    }

    /// A request succeeded.
    mutating func succeeded(now: Duration) {
        refusedShare -= refusedShare / Self.memory
        answers += 1
        let elapsed = now - windowStart
        guard elapsed >= Self.window else { return }
        answered = Double(answers) / (elapsed / .seconds(1))
        windowStart = now
        answers = 0
    }

    /// The service refused a request because there were too many; true if it refuses so many that
    /// it has a limit.
    mutating func refused() -> Bool {
        refusedShare += (1 - refusedShare) / Self.memory
        return refusedShare >= (rate == nil ? Self.limitingShare : Self.knownLimitingShare)
    }

    /// Slows down to what the service has answered lately.
    mutating func throttle(now: Duration) {
        refusedShare = 0
        rate = max(Self.slowest, min(measured(now), rate ?? .infinity) * Self.share)
        raise = answered == nil ? Self.firstRaise : Self.smallestRaise
        raisedAt = now
        next = now
    }

    /// Answers a second.
    private func measured(_ now: Duration) -> Double {
        let elapsed = now - windowStart
        guard let answered else {
            return Double(answers) / (max(.milliseconds(10), elapsed) / .seconds(1))
        }
        guard elapsed >= Self.shortestMeasurement else { return answered }
        return max(answered, Double(answers) / (elapsed / .seconds(1)))
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
