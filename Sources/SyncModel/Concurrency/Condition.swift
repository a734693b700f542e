internal import Synchronization

/// Lets tasks wait for the next change of what is kept elsewhere.
///
/// A waiter reads ``version`` first, then checks the state, and waits for a new version if the
/// state is not the expected one: a change in between is not missed.
package final class Condition: Sendable {
    private struct State {
        var version = 0
        var nextWaiter: UInt64 = 0
        var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// Counts the changes.
    package var version: Int { state.withLock { $0.version } }

    /// Something has changed.
    package func raise() {
        let waiters = state.withLock { state in
            state.version += 1
            defer { state.waiters = [:] }
            return state.waiters.values.map(\.self)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when there is a newer version than this one, or the task was cancelled.
    package func wait(after version: Int) async {
        let ticket = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || state.version != version { return true }
                    state.waiters[ticket] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: ticket) }?.resume()
        }
    }
}
