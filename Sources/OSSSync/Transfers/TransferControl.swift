internal import SyncEngine
internal import Synchronization

/// Where a resumable transfer is.
public enum TransferState: Sendable, Hashable {
    /// Nothing was done yet, or by another process.
    case ready
    /// Under way.
    case running
    /// Waits for its turn in a ``TransferManager``.
    case waiting
    /// Stopped by `pause()`; what is needed to resume is kept.
    case paused
    /// Ended with an error; it may be tried again.
    case failed
    /// Done.
    case finished
    /// Given up; begun again, it starts at the first byte.
    case cancelled
}

/// Lets one attempt run at a time, and others wait for its end.
final class TransferControl: Sendable {
    private struct State {
        var state = TransferState.ready
        var gate: PauseGate?
        var isCancelling = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    var current: TransferState { state.withLock { $0.state } }

    /// True if the attempt under way is to be given up, not only stopped.
    var isCancelling: Bool { state.withLock { $0.isCancelling } }

    /// Begins an attempt.
    ///
    /// - Throws: If one is under way already.
    func begin(pauseLoss: Int64, _ subject: String) throws(SyncError) -> PauseGate {
        let gate = PauseGate(maximumLoss: pauseLoss)
        let isFree = state.withLock { state in
            guard state.state != .running else { return false }
            state.state = .running
            state.gate = gate
            state.isCancelling = false
            return true
        }
        guard isFree else {
            throw SyncError(
                code: .alreadyRunning,
                message: "'\(subject)': the transfer is already in progress"
            )
        }
        return gate
    }

    /// The attempt has ended.
    func end(_ ending: TransferState) {
        let waiters = state.withLock { state in
            state.state = ending
            state.gate = nil
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Begins to stop the attempt under way gently.
    func askForPause() { state.withLock { $0.gate }?.raise() }

    /// Stops the attempt under way gently and waits for its end.
    func pause() async {
        askForPause()
        await ended()
    }

    /// Stops the attempt under way at once and waits for its end.
    func stop() async {
        let gate = state.withLock { state in
            state.isCancelling = state.gate != nil
            return state.gate
        }
        gate?.cut()
        await ended()
    }

    /// Marks a stopped transfer as cancelled.
    func settle(_ ending: TransferState) {
        state.withLock { state in
            if state.state != .running { state.state = ending }
        }
    }

    private func ended() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.gate == nil { return true }
                state.waiters.append(continuation)
                return false
            }
            if isOver { continuation.resume() }
        }
    }
}

extension SingleTransfer {
    /// Services that report progress to `progressState` and everything else to the caller's
    /// closure.
    init(
        subject: String,
        recordDirectory: String?,
        recordName: String,
        partSize: Int64,
        attempts: TransferAttempts
    ) {
        let (progressState, onNotice) = (attempts.progressState, attempts.onNotice)
        self.init(
            subject: subject,
            recordDirectory: recordDirectory,
            recordName: recordName,
            partSize: partSize,
            streams: attempts.streams,
            environment: attempts.environment,
            observer: TransferObserver(
                began: { transfer, _ in
                    progressState.begin(transfer)
                    if transfer.bytesResumed > 0 {
                        onNotice(.resumed(bytes: transfer.bytesResumed))
                    }
                },
                startedOver: { onNotice(.startedOver($0)) },
                warned: { onNotice(.warning(message: $0)) }
            )
        )
    }
}
