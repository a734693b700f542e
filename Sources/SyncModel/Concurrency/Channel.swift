internal import Synchronization

/// A queue between one producing and one consuming task that never holds more than `capacity`.
///
/// The producer waits while it is full, the consumer while it is empty. Cancelling either task
/// ends its wait.
package final class Channel<Element: Sendable>: Sendable {
    private enum Role: Sendable { case producer, consumer }

    private struct State {
        var elements: [Element] = []
        var isFinished = false
        var failure: (any Error)?
        var producer: CheckedContinuation<Void, Never>?
        var consumer: CheckedContinuation<Void, Never>?

        subscript(role: Role) -> CheckedContinuation<Void, Never>? {
            get { role == .producer ? producer : consumer }
            set { if role == .producer { producer = newValue } else { consumer = newValue } }
        }
    }

    private let capacity: Int
    private let state = Mutex(State())

    package init(capacity: Int) {
        precondition(capacity > 0, "a channel holds something")
        self.capacity = capacity
    }

    /// Adds an element, waiting for room.
    ///
    /// - Throws: `CancellationError` if the producing task is cancelled.
    package func send(_ element: Element) async throws {
        while true {
            try Task.checkCancellation()
            let (isSent, consumer) = state.withLock { state in
                guard state.elements.count < capacity else {
                    return (false, CheckedContinuation<Void, Never>?.none)
                }
                state.elements.append(element)
                return (true, Self.take(&state.consumer))
            }
            if isSent {
                consumer?.resume()
                return
            }
            await wait(as: .producer) { $0.elements.count < self.capacity }
        }
    }

    /// No more elements will come; the consumer sees `failure` after the last one.
    ///
    /// Only the first call counts.
    package func finish(throwing failure: (any Error)? = nil) {
        let consumer: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard !state.isFinished else { return nil }
            state.isFinished = true
            state.failure = failure
            return Self.take(&state.consumer)
        }
        consumer?.resume()
    }

    /// The next element, nil at the end.
    ///
    /// - Throws: What the producer finished with, or `CancellationError`.
    package func next() async throws -> Element? {
        while true {
            try Task.checkCancellation()
            let (element, isOver, failure, producer) = state.withLock { state in
                if state.elements.isEmpty {
                    return (
                        Element?.none, state.isFinished, state.failure,
                        CheckedContinuation<Void, Never>?.none
                    )
                }
                let element = state.elements.removeFirst()
                return (element, false, nil, Self.take(&state.producer))
            }
            producer?.resume()
            if let element { return element }
            if let failure { throw failure }
            if isOver { return nil }
            await wait(as: .consumer) { !$0.elements.isEmpty || $0.isFinished }
        }
    }

    private func wait(
        as role: Role,
        until isReady: @escaping @Sendable (State) -> Bool
    ) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if Task.isCancelled || isReady(state) { return true }
                    state[role] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let waiting = state.withLock { Self.take(&$0[role]) }
            waiting?.resume()
        }
    }

    private static func take(
        _ place: inout CheckedContinuation<Void, Never>?
    ) -> CheckedContinuation<Void, Never>? {
        defer { place = nil }
        return place
    }
}
