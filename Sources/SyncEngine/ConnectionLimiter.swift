internal import Synchronization

/// Bounds the requests in flight, first come first served, and adapts to throttling.
///
/// A throttled answer halves the bound, at most once a second; every ``successesPerStep`` answers
/// raise it by one, up to the user's limit. Large and small files wait in one line for each
/// request, so neither starves.
package final class ConnectionLimiter: Sendable {
    private static let successesPerStep = 32
    private static let halvingInterval = Duration.seconds(1)

    private struct State {
        var limit: Int
        var active = 0
        var successes = 0
        var lastHalving: Duration?
        var nextTicket: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
        /// Tickets in order of arrival; those no longer in `waiting` were cancelled.
        var line: [UInt64] = []
        var lineHead = 0
    }

    private let maximum: Int
    private let monotonic: @Sendable () -> Duration
    private let state: Mutex<State>

    /// - Parameters:
    ///   - maximum: The largest number of requests in flight, at least 1.
    ///   - monotonic: A clock that never steps.
    package init(maximum: Int, monotonic: @escaping @Sendable () -> Duration) {
        self.maximum = max(1, maximum)
        self.monotonic = monotonic
        state = Mutex(State(limit: max(1, maximum)))
    }

    /// The bound of now.
    package var limit: Int { state.withLock { $0.limit } }

    /// Waits for a place; `release` gives it back.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before there is one.
    package func acquire() async throws {
        let ticket = state.withLock { state in
            state.nextTicket += 1
            return state.nextTicket
        }
        let isGranted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if state.active < state.limit, state.waiting.isEmpty {
                        state.active += 1
                        return true
                    }
                    state.waiting[ticket] = continuation
                    state.line.append(ticket)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: ticket) }?.resume(returning: false)
        }
        guard isGranted else { throw CancellationError() }
    }

    package func release() {
        let granted = state.withLock { state in
            state.active -= 1
            return Self.grant(&state)
        }
        for continuation in granted { continuation.resume(returning: true) }
    }

    /// The service asked for less.
    package func throttled() {
        let now = monotonic()
        state.withLock { state in
            if let last = state.lastHalving, now - last < Self.halvingInterval { return }
            state.lastHalving = now
            state.limit = max(1, state.limit / 2)
            state.successes = 0
        }
    }

    /// The service answered in time.
    package func succeeded() {
        let maximum = maximum
        let granted = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
            guard state.limit < maximum else { return [] }
            state.successes += 1
            guard state.successes >= Self.successesPerStep else { return [] }
            state.successes = 0
            state.limit += 1
            return Self.grant(&state)
        }
        for continuation in granted { continuation.resume(returning: true) }
    }

    private static func grant(_ state: inout State) -> [CheckedContinuation<Bool, Never>] {
        var granted: [CheckedContinuation<Bool, Never>] = []
        while state.active < state.limit, state.lineHead < state.line.count {
            let ticket = state.line[state.lineHead]
            state.lineHead += 1
            guard let continuation = state.waiting.removeValue(forKey: ticket) else { continue }
            state.active += 1
            granted.append(continuation)
        }
        if state.lineHead > 1_024, state.lineHead * 2 > state.line.count {
            state.line.removeFirst(state.lineHead)
            state.lineHead = 0
        }
        return granted
    }
}
