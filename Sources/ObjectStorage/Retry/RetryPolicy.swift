package import SyncModel
internal import Synchronization

/// How often and after what pauses requests are repeated.
package struct RetryPolicy: Sendable, Hashable {
    /// Attempts of one request in all, counted anew whenever bytes of a body arrived.
    package var attempts: Int
    /// The longest first pause; each next one may be twice as long.
    package var base: Duration
    /// The same after the service asked for less more than once; the first time it may be a refusal
    /// that says nothing of the load, which stores give now and then.
    package var throttleBase: Duration
    package var cap: Duration
    /// The longest pause that a service may ask for.
    package var retryAfterCap: Duration
    /// Repetitions of all requests of a run that are not made up for by successes.
    package var runBudget: Int
    /// Attempts before the service has answered anything, where that is fewer: a user may be
    /// waiting, and the address may be misspelled.
    package var firstAttempts: Int?

    package init(
        attempts: Int,
        base: Duration,
        throttleBase: Duration,
        cap: Duration,
        retryAfterCap: Duration,
        runBudget: Int
    ) {
        self.attempts = attempts
        self.base = base
        self.throttleBase = throttleBase
        self.cap = cap
        self.retryAfterCap = retryAfterCap
        self.runBudget = runBudget
    }

    /// The pause before a try for all requests, which grows to ``cap``; `random` is from 0 to
    /// below 1.
    func outagePause(beforeTry number: Int, isHasty: Bool, random: Double) -> Duration {
        let grown = throttleBase * (1 << min(number, 16))
        let longest = min(isHasty ? grown / 4 : grown, cap)
        // There is only one that tries, so that most of the pause can be kept.
        return longest * (0.75 + 0.25 * random)
    }
}

/// What to do after a failed attempt.
package enum RetryStep: Sendable, Hashable {
    case giveUp
    case wait(Duration)
    /// Get other credentials and repeat at once.
    case refreshCredentials
    /// Set the clock by the server's and repeat at once.
    case correctClock(Timestamp)
    /// Ask the service in that region at once.
    case changeRegion(String)
}

/// The attempts of one request so far.
package struct RetryState: Sendable {
    private let policy: RetryPolicy
    /// Since bytes last arrived.
    private(set) var failures = 0
    /// Failures of the kinds that are repeated only a few times, bytes or not.
    private var limitedFailures = 0
    private var hasRefreshedCredentials = false
    private var hasCorrectedClock = false
    private var hasChangedRegion = false

    package init(_ policy: RetryPolicy) {
        self.policy = policy
    }

    /// Bytes of the body arrived in the attempt that failed.
    package mutating func madeProgress() {
        failures = 0
    }

    /// Decides on a failed attempt; `random` is from 0 to below 1.
    package mutating func next(_ retryClass: RetryClass, random: Double) -> RetryStep {
        switch retryClass {
        case .never, .restartUpload, .objectChanged: return .giveUp
        case .transient: return pause(policy.base, atLeast: .zero, random)
        case .limited(let retries):
            limitedFailures += 1
            guard limitedFailures <= retries else { return .giveUp }
            return pause(policy.base, atLeast: .zero, random)
        // Decided for all requests together.
        case .unreachable: return .giveUp
        case .throttled(let retryAfter):
            let least = min(max(retryAfter ?? .zero, .zero), policy.retryAfterCap)
            let base = failures == 0 ? policy.base : policy.throttleBase
            return pause(base, atLeast: least, random)
        case .clockSkew(let serverTime):
            guard !hasCorrectedClock, let serverTime else { return .giveUp }
            hasCorrectedClock = true
            return .correctClock(serverTime)
        case .refreshCredentials:
            guard !hasRefreshedCredentials else { return .giveUp }
            hasRefreshedCredentials = true
            return .refreshCredentials
        case .otherRegion(let region):
            guard !hasChangedRegion else { return .giveUp }
            hasChangedRegion = true
            return .changeRegion(region)
        }
    }

    /// Full jitter: any time up to the exponential one, so that clients that failed together do not
    /// come back together.
    private mutating func pause(
        _ base: Duration,
        atLeast least: Duration,
        _ random: Double
    ) -> RetryStep {
        failures += 1
        guard failures < policy.attempts else { return .giveUp }
        let exponent = min(failures - 1, 16)
        let longest = min(base * (1 << exponent), policy.cap)
        return .wait(least + longest * random)
    }
}

/// The repetitions that all requests of a run may still make.
///
/// Without it, a service that is down is asked attempts times requests times, and a run takes
/// hours to fail.
final class RetryBudget: Sendable {
    private let limit: Int
    private let left: Mutex<Int>

    init(_ limit: Int) {
        self.limit = limit
        left = Mutex(limit)
    }

    /// False if nothing is left.
    func spend() -> Bool {
        left.withLock { left in
            guard left > 0 else { return false }
            left -= 1
            return true
        }
    }

    /// A request succeeded, or one that failed still brought something.
    func refund() {
        left.withLock { $0 = min($0 + 1, limit) }
    }
}
