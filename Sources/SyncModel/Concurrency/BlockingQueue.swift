internal import Synchronization

/// Runs blocking work on threads of its own, at most `width` pieces at a time, so that no thread of
/// Swift's cooperative pool ever waits for the disk.
package final class BlockingQueue: Sendable {
    fileprivate struct State {
        var running = 0
        /// Nil for those that were started.
        var waiting: [(@Sendable () -> Void)?] = []
        /// Where the next one to start is; what is before it was started.
        var head = 0
    }

    private let begin: BlockingThreads.Start
    private let width: Int
    private let backlog: Int
    private let state = Mutex(State())

    /// Makes a queue with at most `width` threads.
    ///
    /// Another thread begins once `backlog` pieces wait for each that runs: short work is done
    /// sooner by a thread that runs than by one that has to be woken.
    package init(label: String, width: Int, backlog: Int = 0, threads: BlockingThreads) {
        precondition(width > 0 && backlog >= 0, "work needs a thread")
        begin = threads.makeQueue(label, .concurrent)
        self.width = width
        self.backlog = backlog
    }

    /// Pieces of work that have not begun.
    package var waitingCount: Int { state.withLock { $0.waitingCount } }

    /// Runs `work` and returns or throws what it does.
    ///
    /// Work that began is not interrupted by cancellation.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let outcome = Outcome<Value, Failure>()
        // Continued without a value: one of the caller's type is found and copied at run time.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            submit {
                outcome.result = Result { () throws(Failure) in try work() }
                continuation.resume()
            }
        }
        // Taken from the thread, which may continue much later than the caller: a lock would stay.
        guard let result = outcome.result.take() else { preconditionFailure("work has a result") }
        return try result.get()
    }

    /// Written by the thread that does the work, and read when that is done; hence unchecked.
    private final class Outcome<Value, Failure: Error>: @unchecked Sendable {
        var result: Result<Value, Failure>?
    }

    private func submit(_ job: @escaping @Sendable () -> Void) {
        let needsThread = state.withLock { state in
            let isBehind = state.waitingCount >= backlog * state.running
            state.waiting.append(job)
            guard state.running < width, isBehind else { return false }
            state.running += 1
            return true
        }
        guard needsThread else { return }
        // The thread continues with the next job, instead of handing it to another one. It gets
        // none to begin with: that would be kept until the last one has ended.
        begin {
            while let job = self.state.withLock({ $0.takeNext() }) { job() }
        }
    }
}

extension BlockingQueue.State {
    fileprivate var waitingCount: Int { waiting.count - head }

    /// The next job in order of arrival; nil if none waits, and then one less is running.
    fileprivate mutating func takeNext() -> (@Sendable () -> Void)? {
        guard head < waiting.count else {
            waiting.removeAll(keepingCapacity: true)
            head = 0
            running -= 1
            return nil
        }
        // What it holds, such as the bytes that it has written, must not stay until others go.
        guard let job = waiting[head].take() else { preconditionFailure("work begins once") }
        head += 1
        // Removes finished jobs without moving the others each time.
        if head >= 256, head * 2 >= waiting.count {
            waiting.removeFirst(head)
            head = 0
        }
        return job
    }
}
