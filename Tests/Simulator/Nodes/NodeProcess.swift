internal import CVirtualFiles
internal import ObjectTransfer
internal import SyncEngine
internal import SyncModel

/// One process of a node: its work runs piece by piece on a fiber of its own, in an order made of
/// the cluster's seed, and stops in the middle of a piece where a call waits.
///
/// Unchecked, because of all fibers only one runs at a time.
final class NodeProcess: TaskExecutor, @unchecked Sendable {
    private enum Piece {
        case job(UnownedJob)
        case work(@Sendable () -> Void)
    }

    private enum Wake {
        case sleeper(CheckedContinuation<Void, any Error>)
        case sign(@Sendable () -> Void)
    }

    private struct Timer {
        let due: Duration
        let wake: Wake
    }

    /// Where it is in its work.
    enum Place: Equatable {
        case between
        case inCall
        /// In a piece that lets time go by.
        case waiting(until: Duration)
        case ended
    }

    unowned let cluster: Cluster
    let node: Int
    /// As the operating system and leases know it.
    let number: Int32
    /// As the disk knows it.
    let disk: UInt32
    let role: NodeRole
    private var ready: [Piece] = []
    private var timers: [UInt64: Timer] = [:]
    private var nextTicket: UInt64 = 0
    private var requests: [UInt64: CheckedContinuation<NodeAnswer?, Never>] = [:]
    private(set) var place = Place.between
    private var fiber: Fiber?
    /// Of the thread that gives signs of life, also while the other one stops within a piece.
    private var keeper: Fiber?
    private var signs: [@Sendable () -> Void] = []
    /// It stops within a call.
    private var isKeeperInCall = false
    /// What goes on is the keeper.
    private var isKeeping = false
    private var isOver = false
    /// It stops at the next moment when it has nothing in hand, for so long.
    var freezesFor: Duration?
    /// That moment is to be before a call on a lease's files.
    var freezesInLease = false
    var frozenUntil: Duration?
    private(set) var isDead = false
    private(set) var timeAfterDeath = Duration.zero
    var task: Task<Void, Never>?
    /// What it was told to do has come to an end.
    var isFinished = false
    var summary: RunSummary?
    var failure: TransferError?
    /// Files that were there, and are not since a call of the piece that goes on.
    var missing: [ObjectKey: DiskEntry] = [:]
    let storeObserver = StoreObserver()

    init(_ cluster: Cluster, node: Int, number: Int32, role: NodeRole) {
        (self.cluster, self.node, self.number, self.role) = (cluster, node, number, role)
        disk = virtual_files_begin_process()
    }

    func begin(_ body: @escaping @Sendable () async throws -> Void) {
        fiber = Fiber { [self] in work() }
        task = Task(executorPreference: self) {
            do {
                try await body()
            } catch let error as TransferError {
                self.failure = error
            } catch {
                preconditionFailure("a run throws nothing else: \(error)")
            }
            self.isFinished = true
        }
    }

    // MARK: - Its work

    func enqueue(_ job: consuming ExecutorJob) { ready.append(.job(UnownedJob(job))) }

    /// Threads that are none: their work waits with all other.
    var threads: BlockingThreads {
        BlockingThreads { _, _ in { work in self.ready.append(.work(work)) } }
    }

    /// True if it can do something now.
    var canMove: Bool {
        guard frozenUntil == nil, place != .ended else { return false }
        return isKeeperInCall || !signs.isEmpty || canWork
    }

    /// True if that is so but for signs of life.
    private var canWork: Bool {
        switch place {
        case .between: !ready.isEmpty
        case .inCall: true
        case .waiting(let until): until <= cluster.elapsed
        case .ended: false
        }
    }

    /// True if it holds no permission that a pause could make too old.
    var isAtRest: Bool { hasNothingElse && isBetweenPieces && !isKeeperInCall }

    /// True if the piece that goes on is the only one.
    var hasNothingElse: Bool { ready.isEmpty && (!isKeeping || isBetweenPieces) }

    private var isBetweenPieces: Bool {
        switch place {
        case .between, .waiting: true
        case .inCall, .ended: false
        }
    }

    /// When it can do something by itself; nil if only an answer helps.
    var nextTime: Duration? {
        if let frozenUntil { return frozenUntil }
        if case .waiting(let until) = place { return until }
        return timers.values.map(\.due).min()
    }

    /// Lets it do one piece, or a part of one.
    func move() {
        // Who is in the middle of a sign has what others may have to wait for.
        let isKeeperNext =
            isKeeperInCall || !signs.isEmpty && (!canWork || cluster.oneIn(2))
        if isKeeperNext {
            isKeeping = true
            keeper?.resume()
            isKeeping = false
        } else if place != .between || !ready.isEmpty {
            fiber?.resume()
        }
        if fiber?.isFinished == true { end() }
    }

    /// Lets the thread of signs end.
    private func end() {
        place = .ended
        isOver = true
        if keeper?.isFinished == false { keeper?.resume() }
    }

    private func giveSigns() {
        while !isOver {
            if !signs.isEmpty { signs.removeFirst()() }
            if !isOver { keeper?.stop() }
        }
    }

    private func work() {
        while !ready.isEmpty {
            let index = cluster.choose(ready.count)
            switch ready.remove(at: index) {
            case .job(let job): unsafe job.runSynchronously(on: asUnownedTaskExecutor())
            case .work(let work): work()
            }
            if isFinished, ready.isEmpty || isDead { return }
            place = .between
            fiber?.stop()
            // Only what is ready brings it here again, or its death with nothing ready.
        }
    }

    /// Within a call: lets others go on first.
    func pauseInCall() {
        guard !isDead else { return }
        if isKeeping {
            isKeeperInCall = true
            keeper?.stop()
            isKeeperInCall = false
            return
        }
        place = .inCall
        fiber?.stop()
        place = .between
    }

    /// Within a piece: lets time go by.
    func wait(_ duration: Duration) {
        guard !isDead else {
            // Else its code would wait for ever.
            timeAfterDeath += duration
            return
        }
        place = .waiting(until: cluster.elapsed + cluster.worldTime(max(duration, .zero), on: node))
        fiber?.stop()
        place = .between
    }

    // MARK: - Time

    /// Makes ready what was to come by now.
    func fireTimers() {
        guard frozenUntil == nil, !isDead else { return }
        let due = timers.filter { $0.value.due <= cluster.elapsed }
        for (ticket, timer) in due.sorted(by: { ($0.value.due, $0.key) < ($1.value.due, $1.key) }) {
            timers.removeValue(forKey: ticket)
            wake(timer.wake)
        }
    }

    private func wake(_ wake: Wake, isCancelled: Bool = false) {
        switch wake {
        case .sleeper(let continuation):
            if isCancelled {
                continuation.resume(throwing: CancellationError())
            } else {
                continuation.resume()
            }
        case .sign(let work): if !isCancelled { signs.append(work) }
        }
    }

    private func add(_ duration: Duration, _ wake: Wake) -> UInt64 {
        nextTicket += 1
        let due = cluster.elapsed + cluster.worldTime(max(duration, .zero), on: node)
        timers[nextTicket] = Timer(due: due, wake: wake)
        return nextTicket
    }

    /// Does something again and again until it is false.
    func keep(_ interval: Duration, _ body: @escaping @Sendable () -> Bool) {
        if keeper == nil { keeper = Fiber { [self] in giveSigns() } }
        _ = add(
            interval,
            .sign { [weak self] in
                guard let self, !isDead, body() else { return }
                keep(interval, body)
            }
        )
    }

    func sleep(_ duration: Duration) async throws {
        nextTicket += 1
        let ticket = nextTicket
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation {
                (continuation: CheckedContinuation<Void, any Error>) in
                guard !Task.isCancelled, !isDead else {
                    continuation.resume(throwing: CancellationError())
                    return
                }
                let due = cluster.elapsed + cluster.worldTime(max(duration, .zero), on: node)
                timers[ticket] = Timer(due: due, wake: .sleeper(continuation))
            }
        } onCancel: {
            if let timer = timers.removeValue(forKey: ticket) {
                wake(timer.wake, isCancelled: true)
            }
        }
    }

    /// Lets the process's other work go on.
    func pause() async {
        await withCheckedContinuation { continuation in
            ready.append(.work { continuation.resume() })
        }
    }

    // MARK: - Requests

    /// Waits for the answer that `send` brings by its ticket; nil if the process dies before.
    func answer(_ send: (_ ticket: UInt64) -> Void) async -> NodeAnswer? {
        await withCheckedContinuation { continuation in
            guard !isDead else { return continuation.resume(returning: nil) }
            nextTicket += 1
            requests[nextTicket] = continuation
            send(nextTicket)
        }
    }

    func receive(_ answer: NodeAnswer, _ ticket: UInt64) {
        requests.removeValue(forKey: ticket)?.resume(returning: answer)
    }

    // MARK: - The end

    /// It is dead from now on; its code runs to its end and can do nothing.
    func die(limit: Int) {
        guard place != .ended else { return }
        isDead = true
        frozenUntil = nil
        freezesFor = nil
        task?.cancel()
        var left = limit
        while left > 0, place != .ended {
            for (_, request) in requests.sorted(by: { $0.key < $1.key }) {
                request.resume(returning: nil)
            }
            requests = [:]
            for (_, timer) in timers.sorted(by: { $0.key < $1.key }) {
                wake(timer.wake, isCancelled: true)
            }
            timers = [:]
            signs = []
            guard isKeeperInCall || place != .between || !ready.isEmpty else { break }
            cluster.enter(self)
            move()
            left -= 1
        }
        // What waits for something that never comes is let go of.
        if place == .between, left > 0 { fiber?.resume() }
        if place != .ended { end() }
    }
}

/// What a process was started for.
enum NodeRole: Equatable {
    case task(Int, round: String)
    case finish(round: String)
    /// All shards, and then the end of the round.
    case plain
    case cut

    /// True if it may delete, once every shard has ended.
    var mayDelete: Bool {
        switch self {
        case .task, .cut: false
        case .finish, .plain: true
        }
    }
}
