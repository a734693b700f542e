package import SyncModel
internal import Synchronization

/// Counts what a run does and knows the transfers under way; written from every thread.
package final class ProgressTracker: Sendable {
    private static let activeLimit = 16

    private struct State {
        var summary: RunSummary
        var isPlanComplete = false
        var itemsPlanned = 0
        var itemsFinished = 0
        var bytesPlanned: Int64 = 0
        /// Bytes of items that ended, so that the bar never runs backwards.
        var bytesFinished: Int64 = 0
        var nextTransfer: UInt64 = 0
        var active: [UInt64: Transfer] = [:]
    }

    /// One transfer under way; its bytes are counted on the transport's thread without a lock.
    package final class Transfer: Sendable {
        fileprivate let number: UInt64
        package let action: ItemAction
        package let key: ObjectKey
        package let size: Int64
        fileprivate let moved = Atomic<Int64>(0)
        fileprivate let resumed = Atomic<Int64>(0)
        /// Bytes moved for attempts that were thrown away; they count as traffic, not as progress.
        fileprivate let discarded = Atomic<Int64>(0)

        fileprivate init(number: UInt64, action: ItemAction, key: ObjectKey, size: Int64) {
            self.number = number
            self.action = action
            self.key = key
            self.size = size
        }

        package func add(_ bytes: Int) {
            moved.add(Int64(bytes), ordering: .relaxed)
        }

        package func setResumed(_ bytes: Int64) {
            resumed.store(bytes, ordering: .relaxed)
        }

        /// The transfer starts again at its first byte.
        package func startOver() {
            discarded.store(moved.load(ordering: .relaxed), ordering: .relaxed)
            resumed.store(0, ordering: .relaxed)
        }

        package var bytesMoved: Int64 { moved.load(ordering: .relaxed) }
        package var bytesResumed: Int64 { resumed.load(ordering: .relaxed) }
        /// Of the attempt under way, those of a checkpoint included.
        package var bytesDone: Int64 {
            let done = bytesMoved - discarded.load(ordering: .relaxed) + bytesResumed
            return min(size, max(0, done))
        }
    }

    private let state: Mutex<State>
    let direction: SyncDirection

    package init(direction: SyncDirection) {
        self.direction = direction
        state = Mutex(State(summary: RunSummary(direction: direction)))
    }

    /// An item was planned that moves `bytes`.
    package func planned(bytes: Int64) {
        state.withLock { state in
            state.itemsPlanned += 1
            state.bytesPlanned = state.bytesPlanned.addingClamped(bytes)
        }
    }

    package func planIsComplete() {
        state.withLock { $0.isPlanComplete = true }
    }

    package func begin(_ action: ItemAction, key: ObjectKey, size: Int64) -> Transfer {
        state.withLock { state in
            state.nextTransfer += 1
            let transfer = Transfer(
                number: state.nextTransfer,
                action: action,
                key: key,
                size: size
            )
            state.active[transfer.number] = transfer
            return transfer
        }
    }

    /// The transfer ended, well or not; its traffic counts in both cases.
    package func end(_ transfer: Transfer) {
        state.withLock { state in
            guard state.active.removeValue(forKey: transfer.number) != nil else { return }
            state.summary.bytes += transfer.bytesMoved
            state.summary.bytesResumed += transfer.bytesResumed
            state.itemsFinished += 1
            state.bytesFinished = state.bytesFinished.addingClamped(transfer.size)
        }
    }

    /// An item of `bytes` ended without a transfer of its own.
    package func finishedItem(bytes: Int64) {
        state.withLock { state in
            state.itemsFinished += 1
            state.bytesFinished = state.bytesFinished.addingClamped(bytes)
        }
    }

    /// A run that changes nothing would transfer an item of `bytes`.
    package func wouldTransfer(bytes: Int64) {
        count { summary in
            summary.transferred += 1
            summary.bytes = summary.bytes.addingClamped(bytes)
        }
    }

    package func count(_ change: (inout RunSummary) -> Void) {
        state.withLock { change(&$0.summary) }
    }

    package var summary: RunSummary { state.withLock { $0.summary } }

    package func snapshot() -> RunProgress {
        state.withLock { state in
            let active = state.active.values.sorted { $0.number < $1.number }
            let moving = active.reduce(Int64(0)) { $0.addingClamped($1.bytesDone) }
            let resumed = active.reduce(Int64(0)) { $0.addingClamped($1.bytesResumed) }
            return RunProgress(
                isPlanComplete: state.isPlanComplete,
                itemsPlanned: state.itemsPlanned,
                itemsFinished: state.itemsFinished,
                bytesPlanned: state.bytesPlanned,
                bytesFinished: state.bytesFinished.addingClamped(moving),
                bytesResumed: state.summary.bytesResumed + resumed,
                active: active.prefix(Self.activeLimit).map { transfer in
                    ActiveTransfer(
                        action: transfer.action,
                        key: transfer.key.display,
                        size: transfer.size,
                        bytesFinished: transfer.bytesDone,
                        bytesResumed: transfer.bytesResumed
                    )
                }
            )
        }
    }
}
