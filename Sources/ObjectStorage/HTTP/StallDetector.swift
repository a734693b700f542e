/// Judges by byte counts and times whether an exchange still moves.
///
/// Each limit is needed: the idle one finds a dead connection soon, the least number of bytes one
/// that yields a byte a second for ever, the total one the same where few bytes are right: a
/// service that works long keeps its connection alive with white space.
struct StallDetector {
    private let stallLimits: StallLimits
    private var windowStart: Duration
    private var movedAtWindowStart: Int64
    private var lastMoved: Int64
    private var lastMovement: Duration
    private let start: Duration

    /// `now` is an instant of a monotonic clock, as its distance from any fixed one.
    init(stallLimits: StallLimits, moved: Int64, now: Duration) {
        self.stallLimits = stallLimits
        windowStart = now
        movedAtWindowStart = moved
        lastMoved = moved
        lastMovement = now
        start = now
    }

    /// Forgets the time so far: the exchange was paused, or the process did not run.
    mutating func restart(moved: Int64, now: Duration) {
        self = StallDetector(stallLimits: stallLimits, moved: moved, now: now)
    }

    mutating func isStalled(moved: Int64, now: Duration) -> Bool {
        if moved != lastMoved {
            lastMoved = moved
            lastMovement = now
        }
        if now - lastMovement >= stallLimits.idleLimit { return true }
        if let limit = stallLimits.totalLimit, now - start >= limit { return true }
        guard now - windowStart >= stallLimits.idleLimit else { return false }
        if moved - movedAtWindowStart < stallLimits.minimumBytes { return true }
        windowStart = now
        movedAtWindowStart = moved
        return false
    }
}
