extension TransferError {
    /// Why a single transfer failed; `subject` names its object or file, safe to print.
    package init(_ failure: ItemFailure, of subject: String) {
        self.init(
            code: Code(failure),
            message: "'\(subject)': \(failure.singleMessage)",
            underlying: failure,
            answer: failure.answer,
            isRetryable: failure.isPassing || failure == .held || failure == .sourceKeepsChanging
        )
    }
}

extension TransferError.Code {
    /// What an item's failure is to a caller.
    package init(_ failure: ItemFailure) {
        self =
            switch failure {
            case .vanished: .notFound
            case .keepsChanging: .objectChanged
            case .corrupt, .contentMismatch: .corrupt
            case .sourceKeepsChanging: .sourceChanged
            case .cannotResume, .uploadVanished: .cannotResume
            case .needsRestore: .needsRestore
            case .alreadyExists, .objectExists, .fileExists, .nameTaken: .alreadyExists
            case .tooLarge: .configuration
            case .cancelled: .cancelled
            case .held: .alreadyRunning
            case .sourceMissing: .sourceMissing
            case .local, .diskFull, .nameRefused, .sourceUnreadable, .sourceDamaged, .placeRefused,
                .targetChanged, .checkpointGone, .manifest:
                .localState
            case .storage(_, _, _, let cause): TransferError.Code(cause)
            }
    }
}

extension ItemFailure {
    /// What is said of a transfer that no listing came before.
    fileprivate var singleMessage: String {
        switch self {
        case .vanished: "there is no such object"
        case .sourceKeepsChanging:
            "the file changed again and again while it was sent"
        case .alreadyExists: "the object already exists and is not replaced"
        default: message
        }
    }

    /// True if the store answered that it does not take the request, which had no effect then.
    package var isRefusal: Bool {
        guard case .storage(_, _, _, let cause) = self else { return false }
        return cause == .usage || cause == .redirected || cause.isRefusal
    }

    /// True if a later attempt may go through because the network or the service is better then.
    package var isPassing: Bool {
        if case .storage(_, _, _, .passing) = self { true } else { false }
    }
}
