internal import SyncModel
internal import Synchronization

/// Lets all requests of a client wait together while the network is away.
///
/// The first request that finds no connection tries again after growing pauses; all others wait for
/// what it finds, and none of them uses up its own attempts. A connection that is lost counts only
/// where it happens to several objects in a row without an answer in between: a single object may
/// itself be the cause.
final class OutageGate: Sendable {
    /// What a request does after a failure.
    enum Verdict: Sendable {
        /// Try for all, after a pause; tries count from 1.
        case probe(UInt64, attempt: Int)
        /// Try for all now, in place of another one.
        case takeOver(UInt64)
        /// Try again: the network was perhaps found.
        case retry
        /// It is not found.
        case giveUp(StorageError)
    }

    private struct State {
        /// Failed tries since the last answer.
        var failures = 0
        var hasAnswered = false
        /// The one that tries for all.
        var probe: UInt64?
        var nextTicket: UInt64 = 0
        var waiting: [UInt64: CheckedContinuation<Verdict, Never>] = [:]
        /// Why the last try found no connection.
        var lastError: StorageError?
        var losses = 0
        /// The object that the first loss happened to; nil inside for a listing.
        var firstLost: ObjectKey??
        var isLossShared = false
    }

    /// Losses in a row of several objects that are an outage.
    private static let lossLimit = 3

    private let attempts: Int
    private let firstAttempts: Int
    private let state = Mutex(State())
    /// True while an answer changes anything: the usual request only looks at this.
    private let isDisturbed = Atomic(true)

    init(_ policy: RetryPolicy) {
        attempts = max(1, policy.attempts)
        firstAttempts = max(1, min(policy.attempts, policy.firstAttempts ?? policy.attempts))
    }

    /// Requests that wait for the one that tries.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// How often is tried in all.
    var limit: Int { state.withLock { limit($0) } }

    /// True while a request waits for the first response.
    var isHasty: Bool { firstAttempts < attempts && !state.withLock(\.hasAnswered) }

    private func limit(_ state: borrowing State) -> Int {
        state.hasAnswered ? attempts : firstAttempts
    }

    /// The service answered, even with an error: waiting requests continue.
    func answered() {
        guard isDisturbed.load(ordering: .relaxed) else { return }
        finish(.retry) { state in
            state.failures = 0
            state.losses = 0
            state.firstLost = nil
            state.isLossShared = false
            state.hasAnswered = true
            isDisturbed.store(false, ordering: .relaxed)
        }
    }

    /// The one that tried for all ended without knowing: another one tries.
    func abandon(_ probe: UInt64?) {
        guard let probe, state.withLock({ $0.probe == probe }) else { return }
        finish(.retry) { _ in }
    }

    /// Lets another request try for all; the verdict is for the one that tried.
    ///
    /// It may be the probe's own object that the connection breaks at.
    func passOn(_ probe: UInt64) async -> Verdict {
        let next = state.withLock { state -> (UInt64, CheckedContinuation<Verdict, Never>)? in
            guard state.probe == probe, let ticket = state.waiting.keys.min(),
                let waiter = state.waiting.removeValue(forKey: ticket)
            else { return nil }
            state.probe = ticket
            return (ticket, waiter)
        }
        next?.1.resume(returning: .takeOver(next?.0 ?? 0))
        return await wait { state in
            if state.probe == probe { return .takeOver(probe) }
            return state.probe == nil ? .retry : nil
        }
    }

    private func finish(_ verdict: Verdict, _ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            state.probe = nil
            defer { state.waiting = [:] }
            return state.waiting.sorted { $0.key < $1.key }.map(\.value)
        }
        for waiter in waiting { waiter.resume(returning: verdict) }
    }

    /// True if a lost connection is one of several in a row, so that it is an outage.
    func countsLoss(of key: ObjectKey?) -> Bool {
        state.withLock { state in
            isDisturbed.store(true, ordering: .relaxed)
            state.losses += 1
            if let first = state.firstLost {
                if first != key { state.isLossShared = true }
            } else {
                state.firstLost = .some(key)
            }
            if state.probe != nil { return true }
            return state.isLossShared && state.losses >= Self.lossLimit
        }
    }

    /// Waits while another request tries for all.
    ///
    /// - Parameter onWait: Called before the wait with what the last try found, and the number of
    ///   the next one.
    /// - Returns: What to do then.
    func enter(
        onWait: (_ error: StorageError?, _ attempt: Int) -> Void = { _, _ in }
    ) async -> Verdict {
        guard isDisturbed.load(ordering: .relaxed) else { return .retry }
        return await wait(onWait) { state in state.probe == nil ? .retry : nil }
    }

    /// A request found no connection.
    ///
    /// - Parameters:
    ///   - error: Why there was none.
    ///   - probe: The request's ticket if it tries for all.
    ///   - onWait: As for ``enter(onWait:)``.
    /// - Returns: What to do then.
    func failed(
        _ error: StorageError,
        probe: UInt64?,
        onWait: (_ error: StorageError?, _ attempt: Int) -> Void = { _, _ in }
    ) async -> Verdict {
        let verdict = await wait(onWait) { state in
            // Not before: an answer in between would hide this failure from later requests.
            isDisturbed.store(true, ordering: .relaxed)
            state.lastError = error
            if let current = state.probe, current != probe { return nil }
            state.failures += 1
            guard state.failures < limit(state) else { return .giveUp(error) }
            if state.probe == nil {
                state.nextTicket += 1
                state.probe = state.nextTicket
            }
            return .probe(state.probe ?? 0, attempt: state.failures)
        }
        // All that waited for it end with it.
        if case .giveUp(let found) = verdict, found == error {
            finish(verdict) { $0.failures = 0 }
        }
        return verdict
    }

    /// The verdict of `classify`, or that of the request that tries for all where it has none.
    private func wait(
        _ onWait: (_ error: StorageError?, _ attempt: Int) -> Void = { _, _ in },
        _ classify: (inout State) -> Verdict?
    ) async -> Verdict {
        let (verdict, ticket, error, attempt) = state.withLock {
            state -> (Verdict?, UInt64, StorageError?, Int) in
            if let verdict = classify(&state) { return (verdict, 0, nil, 0) }
            state.nextTicket += 1
            return (nil, state.nextTicket, state.lastError, state.failures)
        }
        if let verdict { return verdict }
        onWait(error, attempt)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    // It may have ended since, or this task.
                    guard state.probe != nil, !Task.isCancelled else { return true }
                    state.waiting[ticket] = continuation
                    return false
                }
                if isOver { continuation.resume(returning: .retry) }
            }
        } onCancel: {
            let waiter = state.withLock { $0.waiting.removeValue(forKey: ticket) }
            waiter?.resume(returning: .retry)
        }
    }
}
