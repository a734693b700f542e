internal import SyncEngine
internal import SyncModel
internal import Synchronization

/// Tells what happens to all transfers of a ``TransferManager``, from the moment on in which the
/// manager was asked for this.
///
/// Nobody waits for whoever listens. What a slow listener did not take yet is replaced by what is
/// newer: of each transfer it gets the latest progress, the latest notice, and the latest of
/// everything else. The loop ends when the manager goes. Of two loops over the same sequence each
/// gets a part; ask the manager for one sequence each.
public struct TransferEventSequence: AsyncSequence, Sendable {
    /// One event.
    public typealias Element = TransferEvent

    let box: TransferEventBox

    /// Asks for one event after another.
    public struct AsyncIterator: AsyncIteratorProtocol {
        /// The iterator ends without an error.
        public typealias Failure = Never

        let box: TransferEventBox

        /// The next event; nil after the end, or when the task is cancelled.
        public mutating func next() async -> TransferEvent? { await box.next() }

        /// The same, for a caller that stays where it is.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async -> TransferEvent? {
            await box.next()
        }
    }

    /// A loop over the events.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(box: box)
    }
}

/// Hands events to every sequence.
final class TransferEventHub: Sendable {
    private struct Place: Sendable {
        weak let box: TransferEventBox?
    }

    private struct State {
        var places: [Place] = []
        var isOver = false
    }

    private let state = Mutex(State())

    func makeBox() -> TransferEventBox {
        let box = TransferEventBox()
        let isOver = state.withLock { state in
            state.places.removeAll { $0.box == nil }
            if !state.isOver { state.places.append(Place(box: box)) }
            return state.isOver
        }
        if isOver { box.end() }
        return box
    }

    func post(_ event: TransferEvent) {
        for place in state.withLock({ $0.places }) { place.box?.put(event) }
    }

    func end() {
        let places = state.withLock { state in
            state.isOver = true
            defer { state.places = [] }
            return state.places
        }
        for place in places { place.box?.end() }
    }
}

/// What one sequence has not told yet: at most three events of each transfer.
final class TransferEventBox: Sendable {
    private enum Topic: Hashable {
        case progress
        case notice
        case ending
    }

    private struct Subject: Hashable {
        let identifier: ObjectKey
        let topic: Topic

        init(_ event: TransferEvent) {
            identifier = ObjectKey(event.identifier)
            topic =
                switch event.kind {
                case .progress: .progress
                case .notice: .notice
                case .started, .paused, .cancelled, .finished, .failed: .ending
                }
        }
    }

    private struct State {
        var events: [TransferEvent] = []
        var isOver = false
    }

    private let state = Mutex(State())
    private let signal = ChangeSignal()

    func put(_ event: TransferEvent) {
        change { state in
            let subject = Subject(event)
            var event = event
            if let place = state.events.lastIndex(where: { Subject($0) == subject }) {
                event = event.following(state.events.remove(at: place))
            }
            state.events.append(event)
        }
    }

    func end() {
        change { $0.isOver = true }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { body(&$0) }
        signal.raise()
    }

    func next() async -> TransferEvent? {
        while !Task.isCancelled {
            let version = signal.version
            let (event, isOver) = state.withLock { state in
                (state.events.isEmpty ? nil : state.events.removeFirst(), state.isOver)
            }
            if let event { return event }
            if isOver { return nil }
            await signal.wait(after: version)
        }
        return nil
    }
}

extension TransferEvent {
    /// In place of an older event of its kind: steps of progress add up.
    fileprivate func following(_ older: TransferEvent) -> TransferEvent {
        guard case .progress(let new) = kind, case .progress(let old) = older.kind else {
            return self
        }
        let step = new.stepBytes.addingReportingOverflow(old.stepBytes).partialValue
        return TransferEvent(
            identifier: identifier,
            kind: .progress(
                TransferProgress(
                    stepBytes: step,
                    completedBytes: new.completedBytes,
                    totalBytes: new.totalBytes
                )
            )
        )
    }
}
