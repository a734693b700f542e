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
        case finished(TransferResult)
        /// It ended with an error; it can be resumed.
        case failed(SyncError)
    }

    /// The transfer, as the app calls it.
    public let identifier: String
    /// What happened.
    public let kind: Kind
}

/// Hears what happens to one transfer of a ``TransferManager``.
///
/// ```swift
/// struct Row: TransferListener {
///     func transfer(_ identifier: String, didProgress progress: TransferProgress) { … }
///     func transfer(_ identifier: String, didFailWith error: SyncError) { … }
/// }
/// ```
///
/// The calls for one transfer come one after the other, from any thread. Neither the transfer nor
/// the manager waits for them; of progress that a slow listener has not heard yet, it gets the
/// latest. Each call may be left out: by default it does nothing.
public protocol TransferListener: Sendable {
    /// The transfer has come so far.
    func transfer(_ identifier: String, didProgress progress: TransferProgress)
    /// Something happened to the transfer that is no failure, such as a wait for a connection.
    func transfer(_ identifier: String, didReceive notice: TransferNotice)
    /// The transfer was paused and can be resumed.
    func transferDidPause(_ identifier: String)
    /// The transfer was given up.
    func transferDidCancel(_ identifier: String)
    /// The transfer is done.
    func transfer(_ identifier: String, didFinishWith result: TransferResult)
    /// The transfer ended with an error; it can be resumed.
    func transfer(_ identifier: String, didFailWith error: SyncError)
}

extension TransferListener {
    /// Does nothing.
    public func transfer(_ identifier: String, didProgress progress: TransferProgress) {}
    /// Does nothing.
    public func transfer(_ identifier: String, didReceive notice: TransferNotice) {}
    /// Does nothing.
    public func transferDidPause(_ identifier: String) {}
    /// Does nothing.
    public func transferDidCancel(_ identifier: String) {}
    /// Does nothing.
    public func transfer(_ identifier: String, didFinishWith result: TransferResult) {}
    /// Does nothing.
    public func transfer(_ identifier: String, didFailWith error: SyncError) {}
}

extension TransferEvent {
    func notify(_ listener: any TransferListener) {
        switch kind {
        case .started: break
        case .notice(let notice): listener.transfer(identifier, didReceive: notice)
        case .progress(let progress): listener.transfer(identifier, didProgress: progress)
        case .paused: listener.transferDidPause(identifier)
        case .cancelled: listener.transferDidCancel(identifier)
        case .finished(let result): listener.transfer(identifier, didFinishWith: result)
        case .failed(let error): listener.transfer(identifier, didFailWith: error)
        }
    }
}
