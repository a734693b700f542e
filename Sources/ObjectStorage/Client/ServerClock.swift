internal import SyncModel
internal import Synchronization

/// The time that requests are signed with: the local clock's, corrected once by the server's.
final class ServerClock: Sendable {
    private struct State {
        var offsetSeconds: Int64 = 0
        /// How often the offset changed.
        var generation = 0
        var isFinal = false
    }
    private let state = Mutex(State())
    private let now: @Sendable () -> Timestamp
    /// Only a server that TLS or this machine vouches for may set our clock: a signature for
    /// another time is what a thief of requests would want.
    private let trustsServer: Bool

    init(trustsServer: Bool, now: @escaping @Sendable () -> Timestamp) {
        self.trustsServer = trustsServer
        self.now = now
    }

    struct Reading: Sendable {
        let time: Timestamp
        let generation: Int
    }

    func read() -> Reading {
        let now = now()
        return state.withLock { state in
            let (seconds, overflow) = now.seconds.addingReportingOverflow(state.offsetSeconds)
            let time = Timestamp(
                seconds: overflow ? now.seconds : seconds,
                nanoseconds: now.nanoseconds
            )
            return Reading(time: time, generation: state.generation)
        }
    }

    enum Correction: Sendable, Hashable {
        case corrected(offsetSeconds: Int64)
        /// Another request has corrected the clock since this one was signed.
        case alreadyCorrected
        case refused
    }

    /// A request that was signed by `reading` was refused for its time.
    func correct(by serverTime: Timestamp, after reading: Reading) -> Correction {
        guard trustsServer else { return .refused }
        let now = now()
        return state.withLock { state in
            guard state.generation == reading.generation else { return .alreadyCorrected }
            let (offset, overflow) = serverTime.seconds.subtractingReportingOverflow(now.seconds)
            // Years beyond these have no place in a signature.
            guard !state.isFinal, !overflow, (0..<253_402_300_800).contains(serverTime.seconds)
            else { return .refused }
            state.offsetSeconds = offset
            state.generation += 1
            state.isFinal = true
            return .corrected(offsetSeconds: offset)
        }
    }

    /// The corrected clock was refused as well: what the server said of its own was nonsense.
    func distrust() {
        state.withLock { state in
            state.offsetSeconds = 0
            state.isFinal = true
        }
    }
}
