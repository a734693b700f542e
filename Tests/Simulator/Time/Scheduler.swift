internal import Foundation
internal import SyncModel
internal import SyncTestSupport

/// Runs everything of a simulation on one thread, in an order made of a seed, with a clock that
/// moves only when nothing is ready.
///
/// Unchecked, because nothing of a simulation ever leaves that thread.
final class Scheduler: TaskExecutor, @unchecked Sendable {
    private enum Piece {
        case job(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private struct Timer {
        let due: Duration
        let ticket: UInt64
        let continuation: CheckedContinuation<Void, any Error>
    }

    /// How the next of several ready pieces is chosen.
    enum Order: String, Codable, Sendable, CaseIterable {
        case random
        case oldestFirst
        case newestFirst
    }

    private let thread = Thread.current
    private var ready: [Piece] = []
    private var timers: [UInt64: Timer] = [:]
    private var nextTicket: UInt64 = 0
    private var generator = SeededGenerator(seed: 0)
    private var order = Order.random
    /// Since the simulation began; never steps.
    private(set) var elapsed = Duration.zero
    private(set) var steps = 0
    var trace: Trace
    /// Called before each piece with its number.
    var onStep: ((Int) -> Void)?

    /// What one piece takes.
    private static let pieceDuration = Duration.microseconds(3)

    init(keepsLines: Bool) {
        trace = Trace(keepsLines: keepsLines)
    }

    func begin(seed: UInt64, order: Order) {
        generator = SeededGenerator(randomSeed: seed)
        self.order = order
        steps = 0
    }

    func advance(by duration: Duration) { elapsed += duration }

    func randomUnit() -> Double {
        Double(generator.next() >> 11) / Double(1 << 53)
    }

    func enqueue(_ job: consuming ExecutorJob) {
        requireOwnThread()
        ready.append(.job(UnownedJob(job)))
    }

    func add(_ work: @escaping @Sendable () -> Void) {
        requireOwnThread()
        ready.append(.work(work))
    }

    /// Threads that are none: their work waits here like every other.
    var threads: BlockingThreads {
        BlockingThreads { _, _ in { work in self.add(work) } }
    }

    enum End {
        case finished
        case stepsUsedUp
        /// Nothing is ready, no timer is set, and it is not finished.
        case stuck
    }

    /// Runs pieces until `isFinished`, at most `limit` of them.
    func run(limit: Int, until isFinished: () -> Bool) -> End {
        var left = limit
        while !isFinished() {
            guard left > 0 else { return .stepsUsedUp }
            left -= 1
            guard !ready.isEmpty || fireNextTimer() else { return .stuck }
            runPiece()
        }
        return .finished
    }

    /// Runs what is ready, and waits for nothing.
    func settle() {
        while !ready.isEmpty { runPiece() }
    }

    /// Lets go of what an abandoned run left.
    func drop() {
        ready.removeAll()
        timers.removeAll()
    }

    private func runPiece() {
        let index =
            switch order {
            case .random: generator.below(ready.count)
            case .oldestFirst: 0
            case .newestFirst: ready.count - 1
            }
        let piece = ready.remove(at: index)
        steps += 1
        elapsed += Self.pieceDuration
        trace.note(UInt64(index) << 32 | UInt64(ready.count))
        onStep?(steps)
        switch piece {
        case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        case .work(let work): work()
        }
    }

    /// A task that has lost its preferred executor is found at once, and not by what it breaks.
    private func requireOwnThread() {
        precondition(Thread.current === thread, "a task of the simulation left its thread")
    }

    private func fireNextTimer() -> Bool {
        let next = timers.values.min { ($0.due, $0.ticket) < ($1.due, $1.ticket) }
        guard let next else { return false }
        timers.removeValue(forKey: next.ticket)
        elapsed = max(elapsed, next.due)
        next.continuation.resume()
        return true
    }
}

extension Scheduler {
    /// Returns when the clock has moved so far.
    ///
    /// - Throws: `CancellationError` at once when the task is cancelled.
    func sleep(_ duration: Duration) async throws {
        requireOwnThread()
        nextTicket += 1
        let ticket = nextTicket
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                let timer = Timer(
                    due: elapsed + max(duration, .zero),
                    ticket: ticket,
                    continuation: continuation
                )
                timers[ticket] = timer
            }
        } onCancel: {
            timers.removeValue(forKey: ticket)?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Lets others run.
    func pause() async {
        await withCheckedContinuation { continuation in
            add { continuation.resume() }
        }
    }
}
