internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// What time it is by this machine's clock and by the service's, for the age of the trash.
///
/// Either clock may be wrong by years: a machine without a battery starts in 1970, and a clock that
/// is set goes forwards or back in the middle of a run. What is kept for some days is as old as
/// the younger of two answers: its stamp is the later time when it was made, and it is compared
/// with the earlier one.
final class RunClocks: Sendable {
    private struct State {
        /// What the service said, and when it did.
        var service: (time: Timestamp, said: Duration)?
        var stamp: String?
    }

    /// When the run began, by this machine's clock.
    let start: Timestamp
    private let environment: EngineEnvironment
    private let state = Mutex(State())
    private let learned = Condition()

    init(_ environment: EngineEnvironment) {
        self.environment = environment
        start = environment.now()
    }

    /// Takes the time that an answer of the service names.
    func learn(_ time: Timestamp) {
        let said = environment.monotonic()
        let isFirst = state.withLock { state in
            defer { state.service = (time, said) }
            return state.service == nil
        }
        if isFirst { learned.raise() }
    }

    /// By the service's clock; nil as long as it has said nothing.
    private var serviceTime: Timestamp? {
        let now = environment.monotonic()
        // A difference of durations may be negative, and so moves an instant forwards.
        return state.withLock { $0.service }.map { $0.time - ($0.said - now) }
    }

    /// The earlier of both clocks' times; nil as long as the service has said nothing.
    var earlier: Timestamp? {
        serviceTime.map { min($0, environment.now()) }
    }

    /// The later of both clocks' times.
    var later: Timestamp {
        let now = environment.now()
        return serviceTime.map { max($0, now) } ?? now
    }

    /// Returns when the service has said what time it is, or the task was cancelled.
    func wait() async {
        while serviceTime == nil, !Task.isCancelled {
            let version = learned.version
            if serviceTime != nil { return }
            await learned.wait(after: version)
        }
    }

    /// The later time when this was first asked for, as `20260102T030405Z`.
    var stamp: String {
        if let stamp = state.withLock({ $0.stamp }) { return stamp }
        let stamp = CivilTime(later).basicText
        return state.withLock { state in
            let first = state.stamp ?? stamp
            state.stamp = first
            return first
        }
    }
}
