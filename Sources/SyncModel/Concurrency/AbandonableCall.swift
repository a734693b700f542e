internal import Synchronization

/// Waits for a closure that may never return: until it does, the limit is over, or the wait is
/// abandoned.
///
/// A closure that is not waited for any more is cancelled and left behind; what it returns is
/// ignored.
package final class AbandonableCall<Value: Sendable>: Sendable {
    /// How the wait ended.
    package enum Ending: Sendable {
        case returned(Result<Value, any Error>)
        case timedOut
        /// Also if the waiting task was cancelled.
        case abandoned
    }

    private struct State {
        var ending: Ending?
        var waiter: CheckedContinuation<Ending, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Calls `body`; to be used once.
    package func run(
        limit: Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void,
        _ body: @escaping @Sendable () async throws -> Value
    ) async -> Ending {
        let stopClock = starting {
            // A sleep that is cut short belongs to a wait that is over.
            guard (try? await sleep(limit)) != nil else { return }
            self.end(.timedOut)
        }
        defer { stopClock() }
        return await run(body)
    }

    /// The same without a limit.
    package func run(_ body: @escaping @Sendable () async throws -> Value) async -> Ending {
        let stopBody = starting {
            do {
                self.end(.returned(.success(try await body())))
            } catch {
                self.end(.returned(.failure(error)))
            }
        }
        let ending = await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let ending = state.withLock { state in
                    if state.ending == nil { state.waiter = waiter }
                    return state.ending
                }
                if let ending { waiter.resume(returning: ending) }
            }
        } onCancel: {
            abandon()
        }
        stopBody()
        return ending
    }

    /// Ends the wait, also one that has not begun.
    package func abandon() { end(.abandoned) }

    private func end(_ ending: Ending) {
        let waiter = state.withLock { state in
            guard state.ending == nil else { return CheckedContinuation<Ending, Never>?.none }
            state.ending = ending
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: ending)
    }
}
