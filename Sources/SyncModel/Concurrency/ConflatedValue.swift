internal import Synchronization

/// Passes the newest of a series of values from a callback to one waiting task.
///
/// A value that was not read when the next one comes is dropped. The wait does not end when the
/// task is cancelled: the last checkpoint of an interrupted transfer is what the next run needs,
/// and the transfer always calls ``finish()``.
package final class ConflatedValue<Element: Sendable>: Sendable {
    private struct State {
        var latest: Element?
        var isFinished = false
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    package init() {}

    /// Offers a value; never blocks.
    package func offer(_ element: Element) {
        let reader: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.latest = element
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// No more values will come; the last one can still be read.
    package func finish() {
        let reader: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.isFinished = true
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// The newest value that was not read yet, nil at the end; for one task.
    package func next() async -> Element? {
        while true {
            let (element, isFinished) = state.withLock { state in
                defer { state.latest = nil }
                return (state.latest, state.isFinished)
            }
            if let element { return element }
            if isFinished { return nil }
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.latest != nil || state.isFinished { return true }
                    state.reader = continuation
                    return false
                }
                if isReady { continuation.resume() }
            }
        }
    }
}
