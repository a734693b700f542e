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
}

/// Hears what happens to one transfer of a ``TransferManager``.
///
/// ```swift
/// struct Row: TransferListener {
///     func transfer(_ id: String, didProgress progress: TransferProgress) { … }
///     func transfer(_ id: String, didFailWith error: TransferError) { … }
/// }
/// ```
///
/// The calls for one transfer come one after the other, from any thread. Neither the transfer nor
/// the manager waits for them; of progress that a slow listener has not heard yet, it gets the
/// latest. Each call may be left out: by default it does nothing.
public protocol TransferListener: Sendable {
    /// The transfer has come so far.
    func transfer(_ id: String, didProgress progress: TransferProgress)
    /// Something happened to the transfer that is no failure, such as a wait for a connection.
    func transfer(_ id: String, didReceive notice: TransferNotice)
    /// The transfer was paused and can be resumed.
    func transferDidPause(_ id: String)
    /// The transfer was given up.
    func transferDidCancel(_ id: String)
    /// The transfer is done.
    func transfer(_ id: String, didFinishWith result: TransferJob.Outcome)
    /// The transfer ended with an error; it can be resumed.
    func transfer(_ id: String, didFailWith error: TransferError)
}

extension TransferListener {
    /// Does nothing.
    public func transfer(_ id: String, didProgress progress: TransferProgress) {}
    /// Does nothing.
    public func transfer(_ id: String, didReceive notice: TransferNotice) {}
    /// Does nothing.
    public func transferDidPause(_ id: String) {}
    /// Does nothing.
    public func transferDidCancel(_ id: String) {}
    /// Does nothing.
    public func transfer(_ id: String, didFinishWith result: TransferJob.Outcome) {}
    /// Does nothing.
    public func transfer(_ id: String, didFailWith error: TransferError) {}
}

extension TransferEvent {
    func notify(_ listener: any TransferListener) {
        switch kind {
        case .started: break
        case .notice(let notice): listener.transfer(id, didReceive: notice)
        case .progress(let progress): listener.transfer(id, didProgress: progress)
        case .paused: listener.transferDidPause(id)
        case .cancelled: listener.transferDidCancel(id)
        case .finished(let result): listener.transfer(id, didFinishWith: result)
        case .failed(let error): listener.transfer(id, didFailWith: error)
        }
    }
}
