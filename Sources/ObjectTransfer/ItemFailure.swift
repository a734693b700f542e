package import SyncModel

/// Why one item failed; the run continues.
package enum ItemFailure: Error, Sendable, Hashable {
    /// The object was gone when it was asked for; the next run sees that in its listing.
    case vanished(ServiceAnswer?)
    /// The object was replaced again and again while it was fetched.
    case keepsChanging(times: Int, ServiceAnswer?)
    /// The content does not have the checksum the service states, twice.
    case corrupt(expected: CRC64, found: CRC64)
    /// The content is not what the store's own digests are of, twice.
    case contentMismatch
    /// There is no such file to send.
    case sourceMissing
    /// The local file changed while it was read.
    case sourceKeepsChanging
    /// The user may not read the local file; the text says so.
    case sourceUnreadable(message: String)
    /// The disk does not give what the local file holds; the text says why.
    case sourceDamaged(message: String)
    /// The local file changed since the plan was made.
    case targetChanged
    /// The content must be restored before it can be read.
    case needsRestore(ServiceAnswer?)
    /// What an earlier attempt left is of no use, and nothing was to be begun again.
    case cannotResume
    /// The service no longer knows the multipart upload, twice.
    case uploadVanished(ServiceAnswer?)
    /// The object is not what the listing said, or exists although it was absent there: another
    /// writer created it.
    case alreadyExists(ServiceAnswer?)
    /// A file was to be deleted because the listing lacked its object, which is there.
    case objectExists
    /// A file is there that is not to be replaced.
    case fileExists
    /// The disk takes the file's name and that of another file for one; the text names both.
    case nameTaken(message: String)
    /// This disk has no such names.
    case nameRefused(message: String)
    /// This user may not change what has the file's place, or nothing can be put there; the text
    /// says why.
    case placeRefused(message: String)
    /// The file is too large for the service.
    case tooLarge(size: Int64, limit: Int64)
    /// The run was interrupted.
    case cancelled
    /// The service refused or could not be reached; the text says what to do.
    case storage(
        message: String,
        answer: ServiceAnswer? = nil,
        stops: Bool = false,
        cause: StorageCause = .other
    )
    /// The disk has no room for it; the text says how much is missing.
    case diskFull(message: String)
    /// The disk refused; the text says what to do. With `isOfDisk` it refuses a file of our own,
    /// whatever the item.
    case local(message: String, stops: Bool = false, isOfDisk: Bool = false)
    /// Another process or part of this one has it under way.
    case held
    /// The checkpoint is gone, or of another transfer.
    case checkpointGone(ObjectKey)
    /// The manifest refused.
    case manifest(message: String)

    /// What the service said of a request that failed.
    package struct ServiceAnswer: Sendable, Hashable {
        /// Safe to show.
        package var requestID: String?
        /// The status of the answer; nil if there was none, or it was a success.
        package var status: Int?
        /// The service's own code, safe to show.
        package var code: String?
        /// What was asked for.
        package var operation: String?

        package init(
            requestID: String?,
            status: Int? = nil,
            code: String? = nil,
            operation: String? = nil
        ) {
            self.requestID = requestID
            self.status = status
            self.code = code
            self.operation = operation
        }
    }

    /// The kind of the store's failure, which decides what to do next.
    package enum StorageCause: Sendable, Hashable {
        /// The connection could not be made, was lost or stalled, or the service was too busy: a
        /// later attempt may go through.
        case passing
        /// What the app's own closure said: the name of its code.
        case app(String)
        /// The credentials were refused, or there are none.
        case permission
        /// What the credentials or the signed address do not allow.
        case forbidden
        /// The temporary credentials or the signed address have expired.
        case expired
        /// The request is invalid.
        case usage
        /// The server sends to another place.
        case redirected
        /// What arrived is not what was sent.
        case corrupt
        /// What arrived was not encrypted with the password, or is not what was.
        case undecryptable
        /// The parts of an upload make no object.
        case parts
        /// The server sends whole objects only.
        case rangesIgnored
        /// The server lacks something else without which nothing can be transferred safely.
        case unsupported
        case other

        /// True if other credentials, or another address, may help.
        var isRefusal: Bool { self == .permission || self == .forbidden || self == .expired }
    }

    /// True if it ends the whole run, because what follows would fail, too.
    package var stops: Bool {
        switch self {
        case .storage(_, _, let stops, _), .local(_, let stops, _): stops
        case .manifest, .checkpointGone: true
        default: false
        }
    }

    package var requestID: String? { answer?.requestID }

    /// What the service said of the request that failed; nil if no such answer is the cause.
    package var answer: ServiceAnswer? {
        switch self {
        case .storage(_, let answer, _, _), .vanished(let answer), .needsRestore(let answer),
            .alreadyExists(let answer), .uploadVanished(let answer), .keepsChanging(_, let answer):
            answer
        default: nil
        }
    }

    /// The object is encrypted, and nothing decrypts it.
    package static var encrypted: ItemFailure {
        .storage(
            message: "the content is encrypted"
                + Wording.of(
                    library: ", and nothing decrypts it here; it can be taken as it is stored",
                    program: "; 'osssync get --encryption-password-file FILE' decrypts it, and "
                        + "'osssync init --encrypt DIR REMOTE' links a directory in which it is "
                        + "decrypted"
                ),
            cause: .unsupported
        )
    }

    /// The same of one that is in the way of what was to be done.
    package static var encryptedAndKept: ItemFailure {
        .storage(
            message: "the object is encrypted, and this mirror is not, so it is neither replaced "
                + "nor deleted"
                + Wording.of(
                    library: "",
                    program: "; 'osssync init --encrypt DIR REMOTE' links a directory with such "
                        + "objects"
                ),
            cause: .unsupported
        )
    }

    /// True if the object was gone.
    package var isVanished: Bool {
        if case .vanished = self { true } else { false }
    }

    /// True if an object was there that should not have been.
    package var isAlreadyExists: Bool {
        if case .alreadyExists = self { true } else { false }
    }

    /// True if the service did not know the multipart upload.
    var isUploadVanished: Bool {
        if case .uploadVanished = self { true } else { false }
    }

    /// What failed and what to do, safe to print; the key stands in the event beside it.
    package var message: String {
        switch self {
        case .vanished:
            "the object was deleted after it was listed; the next run checks again"
        case .keepsChanging(let times, _):
            "the object was replaced \(times) times while it was "
                + "downloaded; the local file is unchanged; run again once it stops changing"
        case .corrupt, .contentMismatch:
            "it arrived damaged twice (wrong checksum); the file here is as it was"
        case .sourceMissing:
            "it does not exist; check its name"
        case .sourceKeepsChanging:
            "the file is being changed; it will be uploaded once it stops changing"
        case .targetChanged:
            "the file changed after the plan was made and was skipped; run again"
        case .needsRestore:
            "the object is archived and must be restored before it can be read"
        case .cannotResume:
            "the file was changed or replaced after the upload began; the unfinished upload was "
                + "aborted; start again"
        case .uploadVanished:
            "the service dropped the unfinished upload; the next run restarts it"
        case .alreadyExists:
            "another writer created or changed the object after it was listed; it was not "
                + "replaced; run again"
        case .objectExists:
            "the object was missing from the listing but exists in the store; the file was kept; "
                + "run again"
        case .fileExists:
            "the file already exists and is not replaced"
        case .tooLarge(let size, let limit):
            "the file has \(size) bytes, but the service accepts at most \(limit)"
        case .checkpointGone(let key):
            "the checkpoint of '\(key.display)' is gone or belongs to another transfer"
        case .held:
            "another transfer of the same file is in progress"
        case .cancelled:
            "interrupted; transferred data is kept for the next run"
        case .storage(let message, _, _, _), .local(let message, _, _), .manifest(let message),
            .nameTaken(let message), .nameRefused(let message), .diskFull(let message),
            .sourceUnreadable(let message), .sourceDamaged(let message),
            .placeRefused(let message):
            message
        }
    }
}
