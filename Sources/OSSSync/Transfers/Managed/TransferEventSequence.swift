internal import SyncEngine
internal import SyncModel
internal import Synchronization

/// Tells what happens to all transfers of a ``TransferManager``, from the moment on in which the
/// manager was asked for this.
///
/// Nobody waits for whoever listens. What a slow listener did not take yet is replaced by what is
/// newer: of each transfer it gets the latest progress, the latest notice, and the latest of
/// everything else; and of transfers that are gone it hears of the latest 256. The loop ends when
/// the manager goes. Of two loops over the same sequence each gets a part; ask the manager for one
/// sequence each.
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

    /// The transfer is gone; what it did can still be heard for a while.
    func forget(_ identifier: String) {
        for place in state.withLock({ $0.places }) { place.box?.forget(identifier) }
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

/// What one sequence has not told yet: at most three events of each transfer that the manager
/// knows, and of the latest that it knew.
final class TransferEventBox: Sendable {
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
        let identifier: ObjectKey
        let topic: Topic
    }

    fileprivate struct Note {
        let number: Int
        let event: TransferEvent
    }

    fileprivate struct State {
        var notes: [Subject: Note] = [:]
        /// In the order in which they are told; what is not in `notes` by its number was replaced
        /// or taken.
        var order: [(number: Int, subject: Subject)] = []
        var lastNumber = 0
        /// Transfers that are gone, each with the number of the last event before.
        var departed: [(identifier: ObjectKey, number: Int)] = []
        var isOver = false
    }

    /// Transfers that are gone and can still be heard of.
    private static let longestMemory = 256

    private let state = Mutex(State())
    private let signal = ChangeSignal()

    func put(_ event: TransferEvent) {
        change { $0.put(event) }
    }

    func forget(_ identifier: String) {
        state.withLock { $0.forget(ObjectKey(identifier), keeping: Self.longestMemory) }
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

extension TransferEventBox.State {
    fileprivate mutating func put(_ event: TransferEvent) {
        let subject = TransferEventBox.Subject(
            identifier: ObjectKey(event.identifier),
            topic: TransferEventBox.Topic(event.kind)
        )
        lastNumber += 1
        let older = notes[subject]?.event
        let event = older.map(event.following) ?? event
        notes[subject] = TransferEventBox.Note(number: lastNumber, event: event)
        order.append((lastNumber, subject))
        // Lets go of what was replaced without looking through all each time.
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

    fileprivate mutating func forget(_ identifier: ObjectKey, keeping limit: Int) {
        departed.append((identifier, lastNumber))
        guard departed.count > limit else { return }
        let oldest = departed.removeFirst()
        for topic in TransferEventBox.Topic.allCases {
            let subject = TransferEventBox.Subject(identifier: oldest.identifier, topic: topic)
            // One that came again under this name is told of.
            if let note = notes[subject], note.number <= oldest.number { notes[subject] = nil }
        }
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
