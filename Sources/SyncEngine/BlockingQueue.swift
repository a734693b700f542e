internal import Dispatch

/// Runs blocking work (system calls on files) off the cooperative pool, one piece after the other.
package struct BlockingQueue: Sendable {
    private let queue: DispatchQueue

    package init(_ label: String) {
        queue = DispatchQueue(label: "osssync." + label)
    }

    /// Runs `work` on the queue and waits for it; cancelling the task does not stop it.
    package func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.async {
                continuation.resume(returning: Result(catching: work))
            }
        }
        return try result.get()
    }
}
