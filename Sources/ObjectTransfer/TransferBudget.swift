internal import SyncModel
internal import Synchronization

/// How much content requests may still move, so that what is under way can end before a run stops.
///
/// A request that is not covered any more waits until its task is cancelled: it is not failed, and
/// its file keeps its checkpoint. Other requests continue, so that a begun part is finished.
package final class TransferBudget: Sendable {
    private struct State {
        var bytes: Int64?
        var isClosed = false
        var hasRefused = false
        var hasEnded = false
        /// Requests under way, those that wait here not among them.
        var active = 0
    }

    private let state: Mutex<State>
    private let never = Condition()

    /// - Parameter bytes: What may be moved; nil: anything. The last request may move more.
    package init(bytes: Int64?) {
        state = Mutex(State(bytes: bytes))
    }

    /// True once something waits that was to be begun.
    package var isSpent: Bool { state.withLock { $0.hasRefused || $0.isClosed } }

    /// False once all items were transferred.
    package var isTransferring: Bool { state.withLock { !$0.hasEnded } }

    /// True while no request for an object is under way.
    package var isIdle: Bool { state.withLock { $0.active == 0 } }

    /// Covers nothing more.
    package func close() {
        state.withLock { $0.isClosed = true }
    }

    /// All items were transferred.
    package func endTransfers() {
        state.withLock { $0.hasEnded = true }
    }

    /// True if content may still be moved; else waits until the task is cancelled.
    package func admits() async -> Bool {
        let isCovered = state.withLock { Self.isCovered(&$0) }
        if !isCovered { await waitForCancellation() }
        return isCovered
    }

    /// Takes what a request moves from the budget; to be ended with ``end()``.
    ///
    /// False, after the task's cancellation, if nothing was left.
    func begin(_ bytes: Int64) async -> Bool {
        let isCovered = state.withLock { state in
            guard bytes == 0 || Self.isCovered(&state) else { return false }
            if let left = state.bytes { state.bytes = left - min(left, bytes) }
            state.active += 1
            return true
        }
        if !isCovered { await waitForCancellation() }
        return isCovered
    }

    func end() {
        state.withLock { $0.active -= 1 }
    }

    private static func isCovered(_ state: inout State) -> Bool {
        if !state.isClosed, state.bytes.map({ $0 > 0 }) ?? true { return true }
        state.hasRefused = true
        return false
    }

    private func waitForCancellation() async {
        while !Task.isCancelled { await never.wait(after: never.version) }
    }
}
