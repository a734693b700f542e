package import ObjectTransfer
package import SyncModel
internal import Synchronization

/// Counts what a run does and knows the transfers under way; written from every thread.
package final class ProgressTracker: Sendable {
    private static let activeLimit = 16

    private struct State {
        var summary: RunSummary
        var isPlanComplete = false
        var keysCompared = 0
        var keysRecorded = 0
        var itemsPlanned = 0
        var itemsFinished = 0
        var bytesPlanned: Int64 = 0
        /// Bytes of items that ended, so that the bar never runs backwards.
        var bytesFinished: Int64 = 0
        var nextTransfer: UInt64 = 0
        var active: [ObjectIdentifier: (number: UInt64, transfer: TransferCounter)] = [:]
    }

    private let state: Mutex<State>
    let direction: SyncDirection

    /// `paths` are what the run is limited to, as the summary shows them.
    package init(direction: SyncDirection, paths: [String] = []) {
        self.direction = direction
        var summary = RunSummary(direction: direction)
        summary.paths = paths
        state = Mutex(State(summary: summary))
    }

    /// An item was planned that moves `bytes`.
    package func planned(bytes: Int64) {
        state.withLock { state in
            state.itemsPlanned += 1
            state.bytesPlanned = state.bytesPlanned.addingClamped(bytes)
        }
    }

    /// So many keys are recorded, of which the plan has passed none yet.
    package func planBegins(keysRecorded: Int) {
        state.withLock { $0.keysRecorded = keysRecorded }
    }

    /// The plan has passed so many more keys.
    package func compared(_ keys: Int) {
        state.withLock { $0.keysCompared += keys }
    }

    package func planIsComplete() {
        state.withLock { $0.isPlanComplete = true }
    }

    /// What was planned comes from a listing that failed.
    func planIsIncomplete() {
        state.withLock { $0.isPlanComplete = false }
    }

    package func begin(
        _ direction: TransferDirection,
        key: ObjectKey,
        size: Int64
    ) -> TransferCounter {
        let transfer = TransferCounter(direction, key: key, size: size)
        state.withLock { state in
            state.nextTransfer += 1
            state.active[ObjectIdentifier(transfer)] = (state.nextTransfer, transfer)
        }
        return transfer
    }

    /// The transfer ended; its traffic counts in any case.
    ///
    /// What a failed one was to move is no longer expected. One that was interrupted, which is
    /// failed, too, may be continued by the next run.
    package func end(
        _ transfer: TransferCounter,
        isFailed: Bool = false,
        isInterrupted: Bool = false
    ) {
        state.withLock { state in
            guard state.active.removeValue(forKey: ObjectIdentifier(transfer)) != nil else {
                return
            }
            if isFailed, !isInterrupted {
                state.summary.bytesFailed += transfer.bytesMoved
            } else {
                state.summary.bytes += transfer.bytesMoved
            }
            state.summary.bytesResumed += transfer.bytesResumed
            if !isFailed { state.summary.bytesCopied += transfer.bytesCopied }
            state.itemsFinished += 1
            if isFailed {
                state.bytesPlanned = max(0, state.bytesPlanned - transfer.size)
            } else {
                state.bytesFinished = state.bytesFinished.addingClamped(transfer.size)
            }
        }
    }

    /// An item of `bytes` failed before its transfer began.
    package func abandonedItem(bytes: Int64) {
        state.withLock { state in
            state.itemsFinished += 1
            state.bytesPlanned = max(0, state.bytesPlanned - bytes)
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
    ///
    /// A checkpoint spares `resumed` of them.
    package func wouldTransfer(_ key: ObjectKey, bytes: Int64, resumed: Int64) {
        count { summary in
            summary.countTransfer(of: key)
            summary.bytes = summary.bytes.addingClamped(bytes - resumed)
            summary.bytesResumed = summary.bytesResumed.addingClamped(resumed)
        }
    }

    package func count(_ change: (inout RunSummary) -> Void) {
        state.withLock { change(&$0.summary) }
    }

    package var summary: RunSummary {
        state.withLock { state in
            var summary = state.summary
            let untried = max(0, state.bytesPlanned - state.bytesFinished)
            summary.bytesLeft = summary.bytesLeft.addingClamped(untried)
            return summary
        }
    }

    package func snapshot() -> RunProgress {
        state.withLock { state in
            let active = state.active.values.sorted { $0.number < $1.number }.map(\.transfer)
            let moving = active.reduce(Int64(0)) { $0.addingClamped($1.bytesDone) }
            let resumed = active.reduce(Int64(0)) { $0.addingClamped($1.bytesResumed) }
            var progress = RunProgress(
                isPlanComplete: state.isPlanComplete,
                itemsPlanned: state.itemsPlanned,
                itemsFinished: state.itemsFinished,
                bytesPlanned: state.bytesPlanned,
                bytesFinished: state.bytesFinished.addingClamped(moving),
                bytesResumed: state.summary.bytesResumed + resumed,
                active: active.prefix(Self.activeLimit).map { transfer in
                    ActiveTransfer(
                        action: ItemAction(transfer.direction),
                        key: transfer.key.text,
                        displayKey: transfer.key.display,
                        size: transfer.size,
                        bytesFinished: transfer.bytesDone,
                        bytesResumed: transfer.bytesResumed
                    )
                }
            )
            progress.bytesCopied = active.reduce(state.summary.bytesCopied) {
                $0.addingClamped($1.bytesCopied)
            }
            progress.failed = state.summary.failed
            progress.keysCompared = state.keysCompared
            progress.keysRecorded = state.keysRecorded
            return progress
        }
    }
}
