internal import ObjectStorage
internal import SyncModel
internal import Synchronization

/// Counts failures in a row of one cause that concerns every item, such as a key that may list and
/// not write: ten of them without a success in between end a run, which would otherwise ask for
/// each of a million items in vain.
///
/// A success of an operation ends the rows of that operation: one object that is denied among
/// others is that item's failure.
package final class FailureStreaks: Sendable {
    /// What fails, whatever the item.
    package enum Cause: Sendable, Hashable {
        /// The credentials do not allow the operation.
        case refused(operation: String, status: Int?, code: String?)
        /// The service does not carry out the operation, or has no room.
        case unavailable(operation: String, status: Int?, code: String?)
        /// Connections are lost.
        case connection
        /// This disk has no room.
        case diskFull
        /// This disk takes no files.
        case disk
        /// Nothing that was read was encrypted with the password.
        case password

        /// How the run ends.
        package var code: TransferError.Code {
            switch self {
            case .refused, .password: .credentials
            case .unavailable, .connection: .remoteUnreachable
            case .diskFull, .disk: .localState
            }
        }

        fileprivate func isEnded(by operation: String) -> Bool {
            switch self {
            case .refused(operation, _, _), .unavailable(operation, _, _), .connection: true
            case .password: operation == "GetObject"
            case .refused, .unavailable, .diskFull, .disk: false
            }
        }
    }

    /// So many in a row are no accident.
    package static let limit = 10

    private let counts = Mutex<[Cause: Int]>([:])
    private let shortages = Mutex((count: 0, smallest: Int64.max))
    private let isPasswordProven = Atomic(false)

    package init() {}

    /// An item failed; true if it is the last of so many that the run ends.
    package func failed(_ cause: Cause) -> Bool {
        if cause == .password, isPasswordProven.load(ordering: .relaxed) { return false }
        return counts.withLock { counts in
            let count = counts[cause, default: 0] + 1
            counts[cause] = count < Self.limit ? count : 0
            return count >= Self.limit
        }
    }

    /// Something was decrypted with the password: what cannot be is the failure of its item.
    package func provePassword() {
        isPasswordProven.store(true, ordering: .relaxed)
    }

    /// The store carried out an operation.
    package func succeeded(_ operation: String) {
        counts.withLock { counts in
            guard !counts.isEmpty else { return }
            counts = counts.filter { !$0.key.isEnded(by: operation) }
        }
    }

    /// The disk had no room for a file, which waits for what the run deletes.
    package func lackedRoom(for size: Int64) {
        shortages.withLock { $0 = ($0.count + 1, min($0.smallest, size)) }
    }

    /// True if it had none for so many in a row, of which one was no larger, that this one waits,
    /// too, before it is fetched.
    package func lacksRoom(for size: Int64) -> Bool {
        shortages.withLock { $0.count >= Self.limit && size >= $0.smallest }
    }

    /// The disk had room for a file.
    package func stored() {
        shortages.withLock { if $0.count > 0 { $0 = (0, .max) } }
        counts.withLock { counts in
            guard !counts.isEmpty else { return }
            counts[.diskFull] = nil
            counts[.disk] = nil
        }
    }
}

extension ItemFailure {
    /// What fails for every item, if this is not a failure of this one.
    package var sharedCause: FailureStreaks.Cause? {
        switch self {
        case .diskFull: return .diskFull
        case .local(_, _, isOfDisk: true): return .disk
        case .storage(_, let answer, _, let cause):
            if cause == .undecryptable { return .password }
            guard let status = answer?.status, let operation = answer?.operation else {
                return cause == .passing ? .connection : nil
            }
            let code = answer?.code
            if isBucketFull || cause == .passing {
                return .unavailable(operation: operation, status: status, code: code)
            }
            guard cause.isRefusal else { return nil }
            return .refused(operation: operation, status: status, code: code)
        default: return nil
        }
    }

    /// True if the store does not carry out what was asked of it, or the credentials do not allow
    /// it, which says nothing of the object.
    package var isRefusedOperation: Bool {
        guard case .storage(_, let answer?, false, let cause) = self else { return false }
        return cause == .forbidden && answer.status == 403
            || [405, 501].contains(answer.status)
    }

    /// Those that need room.
    private static let writingOperations: Set = [
        "PutObject", "CopyObject", "InitiateMultipartUpload", "UploadPart", "UploadPartCopy",
        "CompleteMultipartUpload",
    ]

    /// True if the bucket has no room: what is deleted in it may make some.
    package var isBucketFull: Bool {
        guard case .storage(_, let answer?, _, _) = self, let operation = answer.operation,
            Self.writingOperations.contains(operation)
        else { return false }
        return answer.status == 507 || StorageError.isOfRoom(answer.code)
    }
}

extension TransferError {
    /// Ends a run after so many failures of one cause.
    package init(_ failure: ItemFailure, repeated cause: FailureStreaks.Cause) {
        var message = "\(FailureStreaks.limit) failures in a row have one cause: \(failure.message)"
        switch cause {
        case .refused: message += ". If that concerns a few names only, exclude them"
        case .password: message += ". Most likely the password does not fit"
        case .unavailable, .connection, .diskFull, .disk: break
        }
        self.init(
            code: cause.code,
            message: message,
            underlying: failure,
            requestID: failure.requestID
        )
    }
}
