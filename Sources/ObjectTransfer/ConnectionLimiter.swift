internal import Synchronization

/// Bounds the requests in flight and the bytes they move, first come first served, and adapts to
/// the line and the service.
///
/// The bound begins at ``ConnectionGrowth/firstLevel`` and grows up to the user's limit while that
/// moves more. A late answer, or so many throttled ones that they show a limit, halve it, at most
/// once a second; every ``successesPerStep`` answers raise it by one, up to what it was. Throttled
/// answers also set a ``RequestPace``. Large and small files wait in one line for each
/// request. While the head of the line lacks nothing but bytes, smaller requests pass it: as many
/// as there are where they cannot delay it, ``maximumPasses`` where they can; so neither starves.
package final class ConnectionLimiter: Sendable {
    private static let successesPerStep = 32
    private static let halvingInterval = Duration.seconds(1)
    private static let maximumPasses = 64

    private struct Waiter {
        let bytes: Int64
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var limit: Int
        var growth: ConnectionGrowth
        var pace: RequestPace
        var active = 0
        /// Bytes that the active requests were made for.
        var activeBytes: Int64 = 0
        var successes = 0
        var lastHalving: Duration?
        var nextTicket: UInt64 = 0
        var waiting: [UInt64: Waiter] = [:]
        /// Tickets in order of arrival; those no longer in `waiting` were cancelled.
        var line: [UInt64] = []
        var lineHead = 0
        /// Requests that passed the head of the line and may delay it.
        var passes = 0
    }

    private let byteBudget: Int64
    private let monotonic: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    private let state: Mutex<State>

    /// - Parameters:
    ///   - maximum: The largest number of requests in flight, at least 1.
    ///   - byteBudget: The largest sum of bytes of the requests in flight; one larger request runs
    ///     alone. With parts of gigabytes a few of them are as much as a small machine's page cache
    ///     should have to write: 1 GiB.
    ///   - monotonic: A clock that never steps.
    ///   - sleep: Throws if the task is cancelled.
    package init(
        maximum: Int,
        byteBudget: Int64 = 1 << 30,
        monotonic: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.byteBudget = byteBudget
        self.monotonic = monotonic
        self.sleep = sleep
        let now = monotonic()
        let growth = ConnectionGrowth(maximum: max(1, maximum), now: now)
        let pace = RequestPace(now: now)
        state = Mutex(State(limit: growth.level, growth: growth, pace: pace))
    }

    /// The bound of now.
    package var limit: Int { state.withLock { $0.limit } }

    /// Requests that wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits for a place for a request that moves so many bytes of content; `release` gives it
    /// back.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before there is one.
    package func acquire(bytes: Int64) async throws {
        try Task.checkCancellation()
        let ticket: UInt64? = state.withLock { state in
            if enters(bytes, &state) { return nil }
            state.nextTicket += 1
            return state.nextTicket
        }
        guard let ticket else { return try await keepPace(bytes: bytes) }
        let isGranted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if enters(bytes, &state) { return true }
                    state.waiting[ticket] = Waiter(bytes: bytes, continuation: continuation)
                    state.line.append(ticket)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            let (waiter, granted) = state.withLock { state in
                // A request that waited behind a large one may fit now.
                (state.waiting.removeValue(forKey: ticket), grant(&state))
            }
            waiter?.continuation.resume(returning: false)
            for waiter in granted { waiter.continuation.resume(returning: true) }
        }
        guard isGranted else { throw CancellationError() }
        try await keepPace(bytes: bytes)
    }

    /// Waits for the time at which the request may begin, with its place.
    private func keepPace(bytes: Int64) async throws {
        let now = monotonic()
        let pause = state.withLock { $0.pace.wait(now: now) }
        guard pause > .zero else { return }
        do {
            try await sleep(pause)
        } catch {
            release(bytes: bytes, isSuccess: false)
            throw error
        }
    }

    /// True if the request got a place at once.
    private func enters(_ bytes: Int64, _ state: inout State) -> Bool {
        guard hasRoom(for: bytes, state) else { return false }
        guard state.waiting.isEmpty || passesHead(bytes, &state) else { return false }
        state.active += 1
        state.activeBytes += bytes
        return true
    }

    /// Gives a place back.
    package func release(bytes: Int64, isSuccess: Bool) {
        let now = monotonic()
        let granted = state.withLock { state in
            state.active -= 1
            state.activeBytes -= bytes
            // After it was lowered the bound comes back step by step first.
            if isSuccess { learn(bytes, &state, now) }
            return grant(&state)
        }
        for waiter in granted { waiter.continuation.resume(returning: true) }
    }

    private func learn(_ bytes: Int64, _ state: inout State, _ now: Duration) {
        let before = state.growth.level
        guard state.limit == before else { return }
        state.growth.answered(bytes: bytes, isWanted: !state.waiting.isEmpty, now: now)
        state.limit = state.growth.level
    }

    private func hasRoom(for bytes: Int64, _ state: borrowing State) -> Bool {
        guard state.active < state.limit else { return false }
        return state.active == 0 || bytes <= byteBudget - state.activeBytes
    }

    /// The service asked for less.
    package func throttled() {
        let now = monotonic()
        state.withLock { state in
            if state.pace.refused(), halve(&state, now) { state.pace.throttle(now: now) }
        }
    }

    /// The service did not answer in time, or too little moved.
    package func timedOut() {
        let now = monotonic()
        state.withLock { state in _ = halve(&state, now) }
    }

    private func halve(_ state: inout State, _ now: Duration) -> Bool {
        if let last = state.lastHalving, now - last < Self.halvingInterval { return false }
        state.lastHalving = now
        state.limit = max(1, state.limit / 2)
        state.successes = 0
        state.growth.refused(now: now)
        return true
    }

    /// The service answered in time.
    package func succeeded() {
        let now = monotonic()
        let granted = state.withLock { state -> [Waiter] in
            state.pace.succeeded(now: now)
            guard state.limit < state.growth.level else { return [] }
            state.successes += 1
            guard state.successes >= Self.successesPerStep else { return [] }
            state.successes = 0
            state.limit += 1
            return grant(&state)
        }
        for waiter in granted { waiter.continuation.resume(returning: true) }
    }

    /// True if a request that has room may go before the head of the line, which has none.
    private func passesHead(_ bytes: Int64, _ state: inout State) -> Bool {
        guard let head = firstWaiter(&state) else { return true }
        // Even if everything that is in flight were as large as this one, the head would have room.
        let (together, overflows) = bytes.multipliedReportingOverflow(by: Int64(state.limit))
        if !overflows, together <= byteBudget - head.bytes { return true }
        guard state.passes < Self.maximumPasses else { return false }
        state.passes += 1
        return true
    }

    private func firstWaiter(_ state: inout State) -> Waiter? {
        while state.lineHead < state.line.count {
            if let waiter = state.waiting[state.line[state.lineHead]] { return waiter }
            state.lineHead += 1
        }
        return nil
    }

    /// Takes from the head of the line what has room, and from behind it what may pass.
    private func grant(_ state: inout State) -> [Waiter] {
        var granted: [Waiter] = []
        func take(_ waiter: Waiter, _ ticket: UInt64) {
            state.waiting.removeValue(forKey: ticket)
            state.active += 1
            state.activeBytes += waiter.bytes
            granted.append(waiter)
        }
        while let head = firstWaiter(&state), hasRoom(for: head.bytes, state) {
            take(head, state.line[state.lineHead])
            state.passes = 0
        }
        for ticket in state.line[state.lineHead...].dropFirst() {
            guard state.active < state.limit else { break }
            guard let waiter = state.waiting[ticket], hasRoom(for: waiter.bytes, state),
                passesHead(waiter.bytes, &state)
            else { continue }
            take(waiter, ticket)
        }
        if state.lineHead > 1_024, state.lineHead * 2 > state.line.count {
            state.line.removeFirst(state.lineHead)
            state.lineHead = 0
        }
        return granted
    }
}
