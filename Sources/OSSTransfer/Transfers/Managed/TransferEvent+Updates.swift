internal import SyncModel
internal import Synchronization

extension TransferEvent {
    /// The events of all transfers of a ``TransferManager``, from the moment the sequence was
    /// created.
    ///
    /// Listeners never block a transfer. Events that a slow listener has not received yet are
    /// replaced by newer ones: of each transfer it gets the latest progress, the latest notice, and
    /// the latest other event; of removed transfers it gets those of the latest 256. The loop ends
    /// when the manager goes. Of two loops over the same sequence each gets a part; ask the manager
    /// for one sequence each.
    public struct Updates: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = TransferEvent

        let buffer: EventBuffer

        /// Asks for one event after another.
        public struct AsyncIterator: AsyncIteratorProtocol {
            /// The iterator ends without an error.
            public typealias Failure = Never

            let buffer: EventBuffer

            /// The next event; nil after the end, or when the task is cancelled.
            public mutating func next() async -> TransferEvent? { await buffer.next() }

            /// The same, for a caller that stays where it is.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async -> TransferEvent? {
                await buffer.next()
            }
        }

        /// A loop over the events.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(buffer: buffer)
        }
    }
}

/// Hands events to every sequence.
final class EventBroadcaster: Sendable {
    private struct Subscriber: Sendable {
        weak let buffer: EventBuffer?
    }

    private struct State {
        var subscribers: [Subscriber] = []
        var isOver = false
    }

    private let state = Mutex(State())

    func makeBuffer() -> EventBuffer {
        let buffer = EventBuffer()
        let isOver = state.withLock { state in
            state.subscribers.removeAll { $0.buffer == nil }
            if !state.isOver { state.subscribers.append(Subscriber(buffer: buffer)) }
            return state.isOver
        }
        if isOver { buffer.end() }
        return buffer
    }

    func post(_ event: TransferEvent) {
        for subscriber in state.withLock({ $0.subscribers }) { subscriber.buffer?.put(event) }
    }

    /// The transfer was removed; its latest events are still delivered.
    func forget(_ id: String) {
        for subscriber in state.withLock({ $0.subscribers }) {
            subscriber.buffer?.forget(id)
        }
    }

    func end() {
        let subscribers = state.withLock { state in
            state.isOver = true
            defer { state.subscribers = [] }
            return state.subscribers
        }
        for subscriber in subscribers { subscriber.buffer?.end() }
    }
}

/// Events that one sequence has not delivered yet: at most three for each transfer that the manager
/// knows, and for the most recently removed ones.
final class EventBuffer: Sendable {
    fileprivate enum Topic: CaseIterable {
        case progress
        case notice
        case ending

        init(_ kind: TransferEvent.Kind) {
            self =
                switch kind {
                case .progress: .progress
                case .notice: .notice
                case .started, .paused, .cancelled, .finished, .failed: .ending
                }
        }
    }

    fileprivate struct Subject: Hashable {
        let id: ObjectKey
        let topic: Topic
    }

    fileprivate struct Note {
        let number: Int
        let event: TransferEvent
    }

    fileprivate struct State {
        var notes: [Subject: Note] = [:]
        /// In the order of delivery; a number that is not in `notes` was replaced or delivered.
        var order: [(number: Int, subject: Subject)] = []
        var lastNumber = 0
        /// Transfers that are gone, each with the number of the last event before.
        var departed: [(id: ObjectKey, number: Int)] = []
        var isOver = false
    }

    /// Removed transfers whose events are still delivered.
    private static let longestMemory = 256

    private let state = Mutex(State())
    private let signal = Condition()

    func put(_ event: TransferEvent) {
        change { $0.put(event) }
    }

    func forget(_ id: String) {
        state.withLock { $0.forget(ObjectKey(id), keeping: Self.longestMemory) }
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
            let (event, isOver) = state.withLock { ($0.takeNext(), $0.isOver) }
            if let event { return event }
            if isOver { return nil }
            await signal.wait(after: version)
        }
        return nil
    }
}

extension EventBuffer.State {
    fileprivate mutating func put(_ event: TransferEvent) {
        let subject = EventBuffer.Subject(
            id: ObjectKey(event.id),
            topic: EventBuffer.Topic(event.kind)
        )
        lastNumber += 1
        let older = notes[subject]?.event
        let event = older.map(event.following) ?? event
        notes[subject] = EventBuffer.Note(number: lastNumber, event: event)
        order.append((lastNumber, subject))
        // Removes replaced events without scanning the array each time.
        if order.count > 16, order.count > 2 * notes.count {
            order.removeAll { notes[$0.subject]?.number != $0.number }
        }
    }

    fileprivate mutating func takeNext() -> TransferEvent? {
        let place = order.firstIndex { notes[$0.subject]?.number == $0.number }
        guard let place else {
            order = []
            return nil
        }
        let event = notes.removeValue(forKey: order[place].subject)?.event
        order.removeFirst(place + 1)
        return event
    }

    fileprivate mutating func forget(_ id: ObjectKey, keeping limit: Int) {
        departed.append((id, lastNumber))
        guard departed.count > limit else { return }
        let oldest = departed.removeFirst()
        for topic in EventBuffer.Topic.allCases {
            let subject = EventBuffer.Subject(id: oldest.id, topic: topic)
            // Events of a newer transfer with the same id are kept.
            if let note = notes[subject], note.number <= oldest.number { notes[subject] = nil }
        }
    }
}

extension TransferEvent {
    /// In place of an older event of its kind: steps of progress add up.
    func following(_ older: TransferEvent) -> TransferEvent {
        guard case .progress(let new) = kind, case .progress(let old) = older.kind else {
            return self
        }
        let step = new.stepBytes.addingReportingOverflow(old.stepBytes).partialValue
        return TransferEvent(
            id: id,
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
