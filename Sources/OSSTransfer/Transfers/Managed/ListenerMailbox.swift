internal import SyncModel
internal import Synchronization

/// Events of one transfer on their way to its listener, one after the other, on a thread of their
/// own: a listener that blocks holds up neither the transfer nor the manager.
///
/// Of progress that waits only the latest is kept.
final class ListenerMailbox: Sendable {
    private struct State {
        /// Who hears what is posted from now on.
        var listener: (any TransferListener)?
        var waiting: [(event: TransferEvent, listener: any TransferListener)] = []
        var isDelivering = false
    }

    private let begin: BlockingThreads.Start
    private let state = Mutex(State())

    init(_ begin: @escaping BlockingThreads.Start, _ listener: (any TransferListener)? = nil) {
        self.begin = begin
        setListener(listener)
    }

    func setListener(_ listener: (any TransferListener)?) {
        state.withLock { $0.listener = listener }
    }

    func post(_ event: TransferEvent) {
        let begins = state.withLock { state in
            guard let listener = state.listener else { return false }
            if let last = state.waiting.last, case .progress = last.event.kind,
                case .progress = event.kind
            {
                state.waiting[state.waiting.count - 1] = (event.following(last.event), listener)
            } else {
                state.waiting.append((event, listener))
            }
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        if begins { begin { self.deliver() } }
    }

    private func deliver() {
        while let (event, listener) = next() { event.notify(listener) }
    }

    private func next() -> (TransferEvent, any TransferListener)? {
        state.withLock { state in
            state.isDelivering = !state.waiting.isEmpty
            return state.isDelivering ? state.waiting.removeFirst() : nil
        }
    }
}
