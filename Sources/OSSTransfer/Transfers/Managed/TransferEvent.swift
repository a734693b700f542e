internal import ObjectTransfer

/// Something that happened to a transfer of a ``TransferManager``.
public struct TransferEvent: Sendable {
    /// What happened.
    @nonexhaustive
    public enum Kind: Sendable {
        /// It began to move bytes, or resumed.
        case started
        /// It has come so far.
        case progress(TransferProgress)
        /// A notice, which is not a failure.
        case notice(TransferNotice)
        /// It was paused and can be resumed.
        case paused
        /// It was given up.
        case cancelled
        /// It is done.
        case finished(TransferJob.Outcome)
        /// It ended with an error; it can be resumed.
        case failed(TransferError)
    }

    /// The transfer, as the app calls it.
    public let id: String
    /// What happened.
    public let kind: Kind

    /// Makes an event, for tests and previews.
    public init(id: String, kind: Kind) {
        self.id = id
        self.kind = kind
    }
}
