internal import Synchronization

/// Where a body goes of which only the head of its answer tells what it is: its reception pauses
/// until there is a sink for it.
package final class LateSink: Sendable {
    enum Destination {
        case unknown
        case known(FileSink)
        case refused
    }

    private struct State {
        var destination = Destination.unknown
        /// Set while an exchange has a body for the sink: makes its thread try again.
        var resume: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())

    package init() {}

    var destination: Destination { state.withLock { $0.destination } }

    /// Lets the body come; nil if it is not wanted, which ends its exchange.
    package func provide(_ sink: FileSink?) {
        let resume = state.withLock { state in
            state.destination = sink.map(Destination.known) ?? .refused
            if let sink, let resume = state.resume { sink.begin(resume: resume) }
            return state.resume
        }
        resume?()
    }

    /// The head of an answer has come, and its body follows.
    func begin(resume: @escaping @Sendable () -> Void) {
        state.withLock { state in
            state.resume = resume
            if case .known(let sink) = state.destination { sink.begin(resume: resume) }
        }
    }

    /// The exchange has ended, well or not.
    func end() {
        let destination = state.withLock { state in
            state.resume = nil
            return state.destination
        }
        if case .known(let sink) = destination { sink.end() }
    }
}
