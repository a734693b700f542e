/// Why a run failed or could not continue.
///
/// `code` decides the exit status; `message` says what failed, on what, and what to do, and holds
/// no secret.
public struct TransferError: Error, Sendable, CustomStringConvertible {
    /// A kind of failure; the set can grow.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String, Sendable, Hashable {
            case configuration, refused, credentials, localState, remoteUnreachable, locked
            case cancelled, conflict, notFound, alreadyExists, objectChanged, needsRestore
            case cannotResume, corrupt, sourceChanged
            case expired, forbidden, sourceMissing, unsupportedServer, alreadyRunning, redirected
        }
        private let value: Value

        /// The code's name, such as `notFound`.
        public var description: String { value.rawValue }

        private init(value: Value) {
            self.value = value
        }

        /// A code by its name; nil if there is none.
        package init?(named name: String) {
            guard let value = Value(rawValue: name) else { return nil }
            self.value = value
        }

        /// The code of an app's own error, by its name; nil if the error has none.
        package init(ofApp name: String?) {
            self = name.flatMap { Code(named: $0) } ?? .credentials
        }

        /// The arguments, a configuration file or the link of a directory is unusable.
        public static let configuration = Code(value: .configuration)
        /// A guard against losing data refused.
        public static let refused = Code(value: .refused)
        /// There are no credentials, or the service refused them: sign in again.
        public static let credentials = Code(value: .credentials)
        /// The disk, the directory or the manifest is unusable.
        public static let localState = Code(value: .localState)
        /// The remote could not be reached or did not answer as an object store.
        public static let remoteUnreachable = Code(value: .remoteUnreachable)
        /// Another run holds the directory, or another process the records of transfers.
        public static let locked = Code(value: .locked)
        /// The task was cancelled; everything needed to resume is kept.
        public static let cancelled = Code(value: .cancelled)
        /// A conflict ended the run, as `ConflictPolicy.fail` asks.
        public static let conflict = Code(value: .conflict)
        /// There is no such object.
        public static let notFound = Code(value: .notFound)
        /// There is an object that was not to be replaced.
        public static let alreadyExists = Code(value: .alreadyExists)
        /// The object is another version than the one that was asked for, or kept changing while
        /// it was read.
        public static let objectChanged = Code(value: .objectChanged)
        /// The object is archived and must be restored before it can be read.
        public static let needsRestore = Code(value: .needsRestore)
        /// What an earlier attempt left is of no use: start again at the first byte.
        public static let cannotResume = Code(value: .cannotResume)
        /// What came, twice, is not the content that the store states.
        public static let corrupt = Code(value: .corrupt)
        /// The temporary credentials or the signed URL have expired: get new ones.
        public static let expired = Code(value: .expired)
        /// The credentials, or the signed URL, do not allow it.
        public static let forbidden = Code(value: .forbidden)
        /// The file that is to be sent does not exist.
        public static let sourceMissing = Code(value: .sourceMissing)
        /// The file changed while it was sent, also when it was sent again.
        public static let sourceChanged = Code(value: .sourceChanged)
        /// The server answers, and lacks something without which nothing can be transferred safely,
        /// such as ETags.
        public static let unsupportedServer = Code(value: .unsupportedServer)
        /// The server answered with a redirect, which is not followed: the message names the host
        /// that it points to.
        public static let redirected = Code(value: .redirected)
        /// The same transfer, or another one to the same file, is under way already.
        public static let alreadyRunning = Code(value: .alreadyRunning)
    }

    /// The kind of failure.
    public let code: Code
    /// What failed, on what, and what to do; safe to print.
    public let message: String
    /// The error beneath, if there was one.
    public let underlying: (any Error)?
    /// The service's id of the failed request, for its support; safe to print.
    public let requestID: String?
    /// True if the same call may succeed later: there was no connection, or it was lost, or the
    /// service is too busy; another transfer has the file; or the file that is sent is changing.
    public let isRetryable: Bool
    /// The status of the service's answer, such as 403; nil if there was no answer, or no error in
    /// it.
    public let status: Int?
    /// The service's own code, such as `AccessDenied`; safe to print.
    public let serviceCode: String?
    /// What a later download needs to resume; nil if nothing can be resumed.
    public let checkpoint: Checkpoint?

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    /// Makes an error, such as one of an app's own provider or signer.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: What failed, on what, and what to do; without a secret.
    ///   - underlying: The error beneath, if there was one.
    ///   - requestID: The service's id of the failed request.
    ///   - isRetryable: True if the same call may succeed later; nil: only for `remoteUnreachable`.
    ///   - status: The status of the service's answer.
    ///   - serviceCode: The service's own code.
    ///   - checkpoint: What a later download needs to resume.
    public init(
        code: Code,
        message: String,
        underlying: (any Error)? = nil,
        requestID: String? = nil,
        isRetryable: Bool? = nil,
        status: Int? = nil,
        serviceCode: String? = nil,
        checkpoint: Checkpoint? = nil
    ) {
        self.code = code
        self.message = message
        self.underlying = underlying
        self.requestID = requestID
        self.isRetryable = isRetryable ?? (code == .remoteUnreachable)
        self.status = status
        self.serviceCode = serviceCode
        self.checkpoint = checkpoint
    }

    init(
        code: Code,
        message: String,
        underlying: any Error,
        answer: ItemFailure.ServiceAnswer?,
        isRetryable: Bool
    ) {
        self.init(
            code: code,
            message: message,
            underlying: underlying,
            requestID: answer?.requestID,
            isRetryable: isRetryable,
            status: answer?.status,
            serviceCode: answer?.code
        )
    }

    /// The same error with other words, or with what is needed to resume.
    package func with(message: String? = nil, checkpoint: Checkpoint? = nil) -> TransferError {
        TransferError(
            code: code,
            message: message ?? self.message,
            underlying: underlying,
            requestID: requestID,
            isRetryable: isRetryable,
            status: status,
            serviceCode: serviceCode,
            checkpoint: checkpoint ?? self.checkpoint
        )
    }
}
