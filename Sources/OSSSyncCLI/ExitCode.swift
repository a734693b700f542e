internal import OSSSync

/// The exit statuses that scripts and timers rely on.
enum ExitCode: Int32, CaseIterable, Sendable {
    /// Everything that was asked for is done.
    case success = 0
    /// Finished, but some items failed, conflicted, were left alone as unsafe or are damaged.
    case incomplete = 1
    case usage = 2
    case refused = 3
    case credentials = 4
    case localState = 5
    case unreachable = 6
    case locked = 75
    case interrupted = 130
    case terminated = 143

    init(_ summary: RunSummary) {
        self = summary.isComplete ? .success : .incomplete
    }

    /// `signal` is what ended the run, for an error that says it was cancelled.
    init(_ code: SyncError.Code, signal: StopSignal?) {
        switch code {
        case .configuration: self = .usage
        case .refused, .alreadyExists: self = .refused
        case .credentials: self = .credentials
        case .localState: self = .localState
        case .remoteUnreachable: self = .unreachable
        case .locked: self = .locked
        case .cancelled: self = signal?.exitCode ?? .interrupted
        // A conflict, a single object that is missing or archived, and codes that a later engine
        // may add.
        default: self = .incomplete
        }
    }
}
