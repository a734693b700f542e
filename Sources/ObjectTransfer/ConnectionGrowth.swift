/// Decides how many requests may be under way while the service does not throttle: more, as long as
/// more of them move more.
///
/// Each level is measured for at least two answers per request under way. If twice as many move
/// clearly more, they stay and the next level is tried; if not, the former level is used again, and
/// the next attempt is made after a pause that doubles with each attempt that fails: one moment in
/// which the processor was busy must not slow the whole run, and a line that carries no more must
/// not be tried all the time. Answers and times come in, a level goes out: it knows no clock.
struct ConnectionGrowth {
    /// What a run begins with.
    static let firstLevel = 16
    private static let shortestWindow = Duration.milliseconds(100)
    private static let shortestPause = Duration.seconds(1)
    private static let longestPause = Duration.seconds(16)
    /// No attempt for so long after the service asked for less.
    private static let pauseAfterRefusal = Duration.seconds(10)
    /// The gain that twice as many requests must bring.
    private static let worthwhileGain = 0.2
    /// What a request costs beside its content, in bytes that could have been moved instead.
    private static let requestCost: Int64 = 64 << 10

    private let maximum: Int
    /// How many requests may be under way.
    private(set) var level: Int
    private var windowStart: Duration
    private var answers = 0
    /// Answers at whose end no other request waited.
    private var unneeded = 0
    private var work: Int64 = 0
    /// False while connections are made for a new level.
    private var isMeasuring = false
    /// The lower level that this one is compared with, and what that moved in a second.
    private var former: (level: Int, rate: Double)?
    private var notBefore: Duration
    /// The pause after the next attempt that fails.
    private var pause = shortestPause

    /// - Parameters:
    ///   - maximum: The highest level.
    ///   - now: An instant of a clock that never steps.
    init(maximum: Int, now: Duration) {
        self.maximum = maximum
        level = min(Self.firstLevel, maximum)
        windowStart = now
        notBefore = now
    }

    /// A request succeeded that moved so many bytes of content; `isWanted` if others waited.
    mutating func answered(bytes: Int64, isWanted: Bool, now: Duration) {
        answers += 1
        if !isWanted { unneeded += 1 }
        work += Self.requestCost + min(bytes, 1 << 40)
        let elapsed = now - windowStart
        guard answers >= 2 * level, elapsed >= Self.shortestWindow else { return }
        let rate = Double(work) / (elapsed / .seconds(1))
        let isNeeded = unneeded * 2 <= answers
        beginWindow(now)
        guard isNeeded else { return }
        guard isMeasuring else {
            isMeasuring = true
            return
        }
        judge(rate, now)
    }

    /// The service asked for less, or answered too late.
    mutating func refused(now: Duration) {
        former = nil
        notBefore = now + Self.pauseAfterRefusal
        beginWindow(now)
    }

    private mutating func judge(_ rate: Double, _ now: Duration) {
        if let former {
            self.former = nil
            let ratio = Double(level) / Double(former.level)
            guard rate >= former.rate * (1 + Self.worthwhileGain * (ratio - 1)) else {
                notBefore = now + pause
                pause = min(pause * 2, Self.longestPause)
                return change(to: former.level)
            }
            pause = Self.shortestPause
        }
        guard level < maximum, now >= notBefore else { return }
        former = (level, rate)
        change(to: min(maximum, level * 2))
    }

    private mutating func change(to level: Int) {
        self.level = level
        isMeasuring = false
    }

    private mutating func beginWindow(_ now: Duration) {
        windowStart = now
        answers = 0
        unneeded = 0
        work = 0
    }
}
