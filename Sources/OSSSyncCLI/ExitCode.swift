internal import OSSSync

/// The exit statuses that scripts and timers rely on.
enum ExitCode: Int32, CaseIterable, Sendable {
    /// Everything that was asked for is done.
    case success = 0
    /// Finished, but some items failed, conflicted, were skipped as unsafe or are damaged.
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
        self = summary.isWithoutProblems ? .success : .incomplete
    }

    /// What it tells, for `osssync help exit-codes`.
    var meaning: String {
        switch self {
        case .success: "everything requested is done"
        case .incomplete:
            "finished, but some items failed, conflicted, were skipped as unsafe or are damaged"
        case .usage: "the command line or the configuration is wrong"
        case .refused:
            "a safety check refused: mass deletion, an empty listing, another remote, or a "
                + "directory that must not be mirrored"
        case .credentials: "credentials or permissions are missing or wrong"
        case .localState: "the disk or the manifest cannot be used"
        case .unreachable: "the remote could not be reached, or is not an object store"
        case .locked: "another run uses this directory"
        case .interrupted: "interrupted by SIGINT; run the same command to resume"
        case .terminated: "interrupted by SIGTERM or SIGHUP; run the same command to resume"
        }
    }

    /// The status of a command that this error ended.
    init(ending error: any Error) {
        switch error {
        case UsageError.interrupted: self.init(.cancelled, signal: StopSignals.received)
        case is UsageError: self = .usage
        case let error as TransferError: self.init(error.code, signal: StopSignals.received)
        default: self = .localState
        }
    }

    /// `signal` is what ended the run, for an error that says it was cancelled.
    init(_ code: TransferError.Code, signal: StopSignal?) {
        switch code {
        case .configuration, .redirected: self = .usage
        case .refused, .alreadyExists: self = .refused
        case .credentials, .expired, .forbidden: self = .credentials
        case .localState, .sourceMissing: self = .localState
        case .remoteUnreachable, .unsupportedServer: self = .unreachable
        case .locked, .alreadyRunning: self = .locked
        case .cancelled: self = signal?.exitCode ?? .interrupted
        // A conflict, a single object that is missing or archived, and codes that a later engine
        // may add.
        default: self = .incomplete
        }
    }
}
