internal import LocalStorage
internal import ManifestStore
internal import ObjectStorage
internal import ObjectTransfer
internal import SyncPlanner

extension ItemFailure {
    init(_ error: ManifestError) {
        self = .manifest(message: error.message)
    }

    /// Maps what escapes a closure, whose errors are untyped.
    init(any error: any Error) {
        switch error {
        case let error as ManifestError: self.init(error)
        case let error as TransferError: self = .local(message: error.message)
        default: self.init(ofTransfer: error)
        }
    }
}

extension FailureStreaks {
    /// Counts the failure of an item; the error that ends the work on others, if it is the last of
    /// so many.
    func count(failure error: any Error) -> TransferError? {
        let failure =
            (error as? TransferError)?.underlying.map { ItemFailure(any: $0) }
            ?? ItemFailure(any: error)
        guard let cause = failure.sharedCause, failed(cause) else { return nil }
        return TransferError(failure, repeated: cause)
    }
}

extension TransferError {
    init(_ error: ManifestError) {
        let isLost = if case .leaseLost = error { true } else { false }
        self.init(
            code: isLost ? .locked : .localState,
            message: error.message,
            underlying: error
        )
    }

    private init(_ error: PlanError) {
        let code: Code =
            switch error {
            case .unordered(.remote, _, _): .remoteUnreachable
            case .unordered(.base, _, _), .unordered(.local, _, _), .kindMismatch: .localState
            }
        self.init(code: code, message: error.message, underlying: error)
    }

    /// Maps what escapes a group of tasks, whose errors are untyped.
    init(any error: any Error) {
        switch error {
        case let error as TransferError: self = error
        case let error as StorageError: self.init(error)
        case let error as LocalError: self.init(error)
        case let error as ManifestError: self.init(error)
        case let error as PlanError: self.init(error)
        case is CancellationError, ItemFailure.cancelled: self = .interrupted
        case let error as ItemFailure:
            self.init(
                code: Code(error),
                message: error.message,
                underlying: error,
                requestID: error.requestID,
                isRetryable: error.isPassing
            )
        default:
            self.init(code: .localState, message: String(describing: error), underlying: error)
        }
    }
}
