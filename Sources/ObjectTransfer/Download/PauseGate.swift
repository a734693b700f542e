internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// Stops the streams of one transfer so that little of what is under way is lost.
///
/// A request of HTTP/1.1 ends early only by closing its connection, and what has arrived by then
/// and nobody has read is lost. So every stream says what it has asked for and what came of it:
/// after a pause nothing new is asked for, and each connection is closed as soon as nothing is left
/// to be read of it, or once no more than ``maximumLoss`` is missing of all requests together. On a
/// line that brings bytes as fast as they are read the latter comes soon; on every other one, what
/// is lost is what is on its way then.
package final class PauseGate: Sendable {
    private enum Goal: Sendable {
        case raised
        case drained
    }

    private struct State {
        var isRaised = false
        var isCut = false
        /// Asked for and not here yet.
        var outstanding: Int64 = 0
        /// Where it arrives.
        var sinks: [ObjectIdentifier: FileSink] = [:]
    }

    /// Bytes of all requests together that a pause may cost.
    private let maximumLoss: Int64
    private let state = Mutex(State())
    private let signal = Condition()

    /// - Parameter maximumLoss: Bytes of all requests together that a pause may cost.
    package init(maximumLoss: Int64) {
        precondition(maximumLoss >= 0, "nothing less than nothing is lost")
        self.maximumLoss = maximumLoss
    }

    /// True once a pause was asked for.
    package var isRaised: Bool { state.withLock { $0.isRaised } }

    /// Asks for a pause.
    package func raise() {
        change { $0.isRaised = true }
        for sink in state.withLock({ $0.sinks.values.map(\.self) }) where !sink.endWhenDry() {
            end(sink)
        }
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
            if state.withLock({ has(goal, $0) }) { return }
            await signal.wait(after: version)
        }
    }

    private func has(_ goal: Goal, _ state: State) -> Bool {
        switch goal {
        case .raised: state.isRaised
        case .drained: state.isRaised && (state.isCut || state.outstanding <= maximumLoss)
        }
    }
}

// MARK: - What the streams tell

extension PauseGate {
    /// Counts a request that is about to be sent; false if nothing new is to be asked for.
    func begin(_ sink: FileSink) -> Bool {
        state.withLock { state in
            guard !state.isRaised else { return false }
            state.outstanding += sink.expectedLength
            state.sinks[ObjectIdentifier(sink)] = sink
            return true
        }
    }

    /// Bytes of a request came; called on the transport's thread.
    func receive(_ bytes: Int) {
        change { $0.outstanding -= Int64(bytes) }
    }

    /// A request ended; what has not come yet never will.
    func end(_ sink: FileSink) {
        change { state in
            guard state.sinks.removeValue(forKey: ObjectIdentifier(sink)) != nil else { return }
            state.outstanding -= sink.expectedLength - sink.received
        }
    }

    /// Shortens a request that has not ended; false if it stays as it is.
    func shorten(_ sink: FileSink) -> Bool {
        state.withLock { state in
            guard state.sinks[ObjectIdentifier(sink)] != nil else { return false }
            let removed = sink.shorten()
            state.outstanding -= removed
            return removed > 0
        }
    }
}
