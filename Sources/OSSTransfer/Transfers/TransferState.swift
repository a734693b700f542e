/// Where a transfer is.
@nonexhaustive
public enum TransferState: Sendable, Hashable {
    /// It was not started yet, or by another process.
    case ready
    /// It was started, and has not ended or stopped yet.
    case running
    /// It waits in a ``TransferManager``: for its turn, or for a network over which it may run; see
    /// ``ManagedTransfer/waitingFor``.
    case waiting
    /// It was paused; what is needed to resume is kept.
    case paused
    /// It ended with an error; it can be resumed.
    case failed
    /// It is complete.
    case finished
    /// It was cancelled; resumed, it starts at the first byte unless its parts were kept.
    case cancelled
}
