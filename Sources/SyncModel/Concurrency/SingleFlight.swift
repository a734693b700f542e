internal import Synchronization

/// Runs one operation at a time for all tasks that want the same result.
///
/// Other callers wait until it ends, and check its result first.
package final class SingleFlight: Sendable {
    private struct State {
        var isUnderWay = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// True if no operation is running: then the caller runs it, and calls ``end()``.
    package func begin() -> Bool {
        state.withLock { state in
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
    }

    package func end() {
        let waiting = state.withLock { state in
            defer { state = State() }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns when no operation is running.
    package func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                guard state.isUnderWay else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}
