internal import SyncModel
internal import Synchronization

/// Stops the streams of one transfer so that little of what is under way is lost.
///
/// A request of HTTP/1.1 ends early only by closing its connection, and what the server has sent by
/// then and nobody has read is lost. So every stream says what it has asked for and what came of
/// it: after a pause nothing new is asked for, and the streams go on until no more than
/// ``maximumLoss`` is missing of all their requests together. That bounds the loss whatever the
/// buffers on the way hold.
///
/// For the same reason the gate sizes the requests: half of what came since the start, so that a
/// transfer which is paused often asks for little, and at most what comes within a second, so that
/// no pause takes longer.
package final class PauseGate: Sendable {
    /// Bytes of all requests together that a pause may cost.
    package static let maximumLoss: Int64 = 64 << 10

    private enum Goal: Sendable {
        case raised
        case drained
    }

    private struct State {
        var isRaised = false
        var isCut = false
        /// Asked for and not here yet.
        var outstanding: Int64 = 0
        var received: Int64 = 0
        /// Of one stream, by the last request that was whole.
        var bytesPerSecond: Int64?

        func has(_ goal: Goal) -> Bool {
            switch goal {
            case .raised: isRaised
            case .drained: isRaised && (isCut || outstanding <= PauseGate.maximumLoss)
            }
        }
    }

    private let smallest: Int64
    private let streams: Int64
    private let state = Mutex(State())
    private let signal = Condition()

    /// For a transfer of so many streams.
    package init(streams: Int) {
        precondition(streams > 0, "a transfer has streams")
        self.streams = Int64(streams)
        smallest = max(1, Self.maximumLoss / Int64(streams))
    }

    /// True once a pause was asked for.
    package var isRaised: Bool { state.withLock { $0.isRaised } }

    /// Asks for a pause.
    package func raise() {
        change { $0.isRaised = true }
    }

    /// Asks for an end at once, whatever it costs.
    package func cut() {
        change { state in
            state.isRaised = true
            state.isCut = true
        }
    }

    /// Returns when a pause was asked for, or the task was cancelled.
    package func untilRaised() async { await wait(for: .raised) }

    /// Returns when a pause was asked for and no more than ``maximumLoss`` is under way, or the
    /// task was cancelled.
    package func untilDrained() async { await wait(for: .drained) }

    private func change(_ body: (inout State) -> Void) {
        // Nobody waits for anything else.
        let isRaised = state.withLock { state in
            body(&state)
            return state.isRaised
        }
        if isRaised { signal.raise() }
    }

    private func wait(for goal: Goal) async {
        while !Task.isCancelled {
            let version = signal.version
            if state.withLock({ $0.has(goal) }) { return }
            await signal.wait(after: version)
        }
    }
}

// MARK: - What the streams tell

extension PauseGate {
    /// The size of a stream's next request, at most `limit` bytes.
    func nextLength(atMost limit: Int64) -> Int64 {
        state.withLock { state in
            let grown = max(smallest, state.received / 2 / streams)
            let soon = max(smallest, state.bytesPerSecond ?? Int64.max)
            return min(limit, grown, soon)
        }
    }

    /// Counts a request that is about to be sent; false if nothing new is to be asked for.
    func begin(_ bytes: Int64) -> Bool {
        state.withLock { state in
            guard !state.isRaised else { return false }
            state.outstanding += bytes
            return true
        }
    }

    /// Bytes of a request came; called on the transport's thread.
    func receive(_ bytes: Int) {
        change { state in
            state.outstanding -= Int64(bytes)
            state.received += Int64(bytes)
        }
    }

    /// A request ended with `missing` bytes that never came; it took `duration`.
    func end(missing: Int64, of length: Int64, after duration: Duration) {
        change { state in
            state.outstanding -= missing
            guard missing == 0, duration > .zero else { return }
            let milliseconds = max(1, duration / .milliseconds(1))
            state.bytesPerSecond = Int64(Double(length) * 1_000 / milliseconds)
        }
    }
}
