internal import ObjectTransfer
internal import SyncModel
internal import Synchronization

/// How far a transfer is.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes that moved since the progress before this one; those that had to come twice count
    /// twice.
    public let stepBytes: Int64
    /// Bytes that are where they belong, those of earlier attempts included, and of an upload those
    /// that were sent and are not confirmed yet.
    ///
    /// Does not go back until another attempt begins, after a pause or a lost connection, with the
    /// bytes that the store or the file has; or the transfer starts over.
    public let completedBytes: Int64
    /// Bytes of the whole.
    public let totalBytes: Int64
    /// The part that is where it belongs, from 0 to 1; 1 for an empty object.
    public var fraction: Double { Self.fraction(completedBytes, of: totalBytes) }

    static func fraction(_ completed: Int64, of total: Int64) -> Double {
        total > 0 ? min(1, Double(completed) / Double(total)) : 1
    }

    /// Makes a progress, for tests and previews.
    public init(stepBytes: Int64, completedBytes: Int64, totalBytes: Int64) {
        self.stepBytes = stepBytes
        self.completedBytes = completedBytes
        self.totalBytes = totalBytes
    }
}

extension TransferProgress {
    /// The progress of a transfer, until it stops: finished, paused, failed or cancelled.
    ///
    /// Begin another loop when the transfer is resumed. Before the start the loop waits.
    ///
    /// Listeners never block the transfer: progress is computed on demand, at most once in the
    /// transfer's interval, and a slow listener misses the values in between. Without a listener it
    /// costs the transfer one addition for each piece that arrives. The last progress of a finished
    /// transfer is always delivered. Each loop has its own count of steps.
    public struct Updates: AsyncSequence, Sendable {
        /// One progress.
        public typealias Element = TransferProgress

        let progressState: ProgressState
        let interval: Duration
        let sleep: @Sendable (Duration) async throws -> Void

        /// Asks for one progress after another.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// The iterator ends without an error.
            public typealias Failure = Never

            let sequence: Updates
            private var told: ProgressState.Snapshot?
            private var hasEnded = false

            init(sequence: Updates) {
                self.sequence = sequence
            }

            /// The next progress; nil after the end, or when the task is cancelled.
            public mutating func next() async -> TransferProgress? {
                await next(isolation: nil)
            }

            /// The same, for a caller that stays where it is.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async -> TransferProgress? {
                while !Task.isCancelled, !hasEnded {
                    // Nothing changes while nothing moves or after the end, so there is nothing to
                    // read.
                    if let told, !told.isOver { await sequence.rest(after: told.version) }
                    let now = sequence.progressState.snapshot
                    let before = told
                    told = now
                    // It stopped and was resumed meanwhile: that is for another loop.
                    hasEnded = before.map { $0.run > 0 && $0.run != now.run } ?? false
                    if let total = now.total,
                        before?.total == nil || now.completed != before?.completed
                    {
                        return TransferProgress(
                            stepBytes: now.moved - (before?.moved ?? now.movedBefore),
                            completedBytes: now.completed,
                            totalBytes: total
                        )
                    }
                    hasEnded = hasEnded || now.isOver
                }
                return nil
            }
        }

        /// A loop over the progress from now on.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(sequence: self)
        }

        /// Waits for the interval while the transfer runs, or until it changes its state.
        fileprivate func rest(after version: Int) async {
            guard progressState.snapshot.isMoving else {
                return await progressState.change(after: version)
            }
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await progressState.change(after: version) }
                // A sleep that is cut short has done its work.
                group.addTask { try? await sleep(interval) }
                _ = await group.next()
                group.cancelAll()
            }
        }
    }
}

/// What a transfer's listeners look at.
final class ProgressState: Sendable {
    struct Snapshot: Sendable {
        /// Of the changes of state; a later one is not missed.
        let version: Int
        let completed: Int64
        /// In all attempts; bytes that came twice count twice.
        let moved: Int64
        /// The part of it that moved before the latest start.
        let movedBefore: Int64
        /// Nil before anything is known.
        let total: Int64?
        /// Counts the starts.
        let run: Int
        let isMoving: Bool
        /// True if nothing has moved since it was told that there is no connection.
        let isWaiting: Bool
        /// True while the transfer has stopped.
        let isOver: Bool
    }

    private struct State {
        var transfer: TransferCounter?
        /// In the attempts before.
        var movedBefore: Int64 = 0
        /// All that had moved at the latest start.
        var movedAtStart: Int64 = 0
        var run = 0
        var isMoving = false
        var isOver = false
        /// What had moved when it was told last that there is no connection.
        var movedAtOutage: Int64?

        /// The most bytes of this attempt that were where they belong.
        var completed: Int64 = 0
        /// The beginning of `transfer` that they are of.
        var beginning = 0

        var moved: Int64 { movedBefore + (transfer?.bytesOnTheWire ?? 0) }

        /// Bytes of a part that was cut off come again, and are taken back meanwhile.
        mutating func updateCompleted() {
            guard let transfer else { return }
            let (now, done) = (transfer.startedOver, transfer.bytesDone)
            completed = now == beginning ? max(completed, done) : done
            beginning = now
        }
    }

    private let state = Mutex(State())
    private let signal = Condition()

    var snapshot: Snapshot {
        let version = signal.version
        return state.withLock { state in
            state.updateCompleted()
            return Snapshot(
                version: version,
                completed: state.completed,
                moved: state.moved,
                movedBefore: state.movedAtStart,
                total: state.transfer?.size,
                run: state.run,
                isMoving: state.isMoving,
                isWaiting: state.movedAtOutage == state.moved,
                isOver: state.isOver
            )
        }
    }

    /// The transfer was started or resumed.
    func start() {
        change { state in
            state.run += 1
            state.movedAtStart = state.moved
            state.isOver = false
            state.movedAtOutage = nil
        }
    }

    /// An attempt has begun to move bytes.
    func begin(_ transfer: TransferCounter) {
        change { state in
            // One that starts over tells of itself once more.
            if state.transfer !== transfer {
                state.movedBefore = state.moved
                state.transfer = transfer
            }
            (state.completed, state.beginning) = (0, transfer.startedOver)
            state.isMoving = true
        }
    }

    /// An attempt has ended; another one may follow by itself.
    func rest() { change { $0.isMoving = false } }

    /// There is no connection; that is over once something moves.
    func lose() { change { $0.movedAtOutage = $0.moved } }

    /// The transfer has stopped, or is gone.
    func end() {
        change { state in
            state.isMoving = false
            state.movedAtOutage = nil
            state.isOver = true
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        signal.raise()
    }

    /// Returns when the state is another one than that of `version`, or the task was cancelled.
    func change(after version: Int) async { await signal.wait(after: version) }
}
