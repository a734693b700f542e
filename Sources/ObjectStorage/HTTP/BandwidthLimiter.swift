internal import SyncModel
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
        capacity = self.bytesPerSecond * Self.burst.inSeconds
        allowance = capacity
        last = now
    }

    mutating func moved(_ bytes: Int) {
        allowance -= Double(bytes)
    }

    /// How long nothing may move; zero if something may.
    mutating func pause(now: Duration) -> Duration {
        allowance = min(allowance + (now - last).inSeconds * bytesPerSecond, capacity)
        last = now
        guard allowance < 0 else { return .zero }
        return .seconds(-allowance / bytesPerSecond)
    }

    /// Bytes that may move now without a debt, as of the last ``pause(now:)``.
    var room: Int { max(0, Int(allowance)) }
}

/// Shares a limited line among the bodies that wait for it: the one that waited longest is next.
///
/// With pieces so small that all of them together take a second, and no more bodies than
/// ``bodies(at:)``, each moves at least every two seconds. A store closes a connection that is
/// silent for longer, and what it had of the body is lost.
enum BandwidthTurns {
    /// Bytes a second for one body.
    static let leastShare: Int64 = 16 << 10
    /// More requests than a run has at a time.
    private static let mostBodies: Int64 = 256

    /// How many bodies are begun at most.
    static func bodies(at bytesPerSecond: Int64) -> Int {
        Int(clamping: max(1, bytesPerSecond / leastShare))
    }

    /// Bytes that one call may move of at most `largest`.
    static func piece(at bytesPerSecond: Int64?, largest: Int) -> Int {
        guard let bytesPerSecond else { return largest }
        let share = max(leastShare, bytesPerSecond / mostBodies)
        return min(largest, max(4 << 10, Int(clamping: min(share, bytesPerSecond / 4))))
    }

    /// Those that may move one piece each now, by when they moved last.
    static func next<Body>(
        _ waiting: [(body: Body, lastMoved: Duration)],
        room: Int,
        piece: Int
    ) -> [Body] {
        waiting.sorted { $0.lastMoved < $1.lastMoved }.prefix(max(1, room / max(1, piece)))
            .map(\.body)
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
    /// Lets no more bodies begin than the line has room for.
    let bodies: SendingGate

    package init(_ current: @escaping @Sendable () -> Int64?) {
        self.current = current
        bodies = SendingGate { current().map(BandwidthTurns.bodies(at:)) }
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

    /// Bytes that one call may move of at most `largest`.
    func piece(largest: Int) -> Int {
        state.withLock { BandwidthTurns.piece(at: $0.bytesPerSecond, largest: largest) }
    }

    /// Bytes that may move now; nil without a limit.
    var room: Int? { state.withLock { $0.bucket?.room } }

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
    /// One call moves no more, also on a fast line.
    private static let largestPiece = 16 << 10

    private let limit: BandwidthLimit
    private let start = SuspendingClock.now
    /// True if a transfer waits for its turn.
    private(set) var holdsBack = false

    init(_ limit: BandwidthLimit) { self.limit = limit }

    /// False if the transfer that asks must wait for its turn.
    ///
    /// One that has none does not pass those that wait.
    func mayMove(hasTurn: Bool) -> Bool {
        if hasTurn || !holdsBack, pause == .zero { return true }
        holdsBack = true
        return false
    }

    func moved(_ bytes: Int) { limit.moved(bytes) }

    /// How long nothing may move; zero if something may.
    var pause: Duration { limit.pause }

    var now: Duration { SuspendingClock.now - start }

    /// Bytes that one call may take of a body that is sent.
    var piece: Int { limit.piece(largest: Self.largestPiece) }

    /// The size of a buffer for an answer, all of which is given to one call.
    func bufferSize(atMost size: Int) -> Int { limit.piece(largest: size) }

    /// Those whose turn it is.
    func next<Body>(_ waiting: [(body: Body, lastMoved: Duration)]) -> [Body] {
        BandwidthTurns.next(waiting, room: limit.room ?? .max, piece: piece)
    }

    /// Says whether some still wait.
    func letGo(someWait: Bool) { holdsBack = someWait }
}
