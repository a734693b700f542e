package import SyncModel

/// Why one item ended without being done; the run goes on.
package enum ItemFailure: Error, Sendable, Hashable {
    /// The object was gone when it was asked for; the next run sees that in its listing.
    case vanished
    /// The object was replaced again and again while it was fetched.
    case keepsChanging
    /// The content does not have the checksum the service states, twice.
    case corrupt(expected: CRC64, found: CRC64)
    /// The content is not what the store's own digests are of, twice.
    case disproved
    /// The local file changed while it was read.
    case sourceKeepsChanging
    /// The local file changed since the plan was made.
    case targetChanged
    /// The content must be restored before it can be read.
    case needsRestore
    /// What an earlier attempt left is of no use, and nothing was to be begun again.
    case cannotResume
    /// The service no longer knows the multipart upload, twice.
    case uploadVanished
    /// The object is not what the listing said, or exists though it was absent there: somebody
    /// else wrote it.
    case alreadyExists
    /// A file was to be deleted because the listing lacked its object, which is there.
    case objectExists
    /// A file is there that is not to be replaced.
    case fileExists
    /// The disk takes the file's name and that of another file for one; the text names both.
    case nameTaken(message: String)
    /// The file is too large for the service.
    case tooLarge(size: Int64, limit: Int64)
    /// The run was interrupted.
    case cancelled
    /// The service refused or could not be reached; the text says what to do.
    case storage(
        message: String,
        requestID: String?,
        stops: RunStop?,
        cause: StorageCause = .other
    )
    /// The disk has no room for it; the text says how much is missing.
    case diskFull(message: String)
    /// The disk refused; the text says what to do.
    case local(message: String, stops: RunStop?)
    /// Another process or part of this one has it under way.
    case held
    /// The manifest refused.
    case manifest(message: String)

    /// What kind of failure of the store it was, for whoever decides what to do next.
    package enum StorageCause: Sendable, Hashable {
        /// The connection could not be made, was lost or stalled, or the service was too busy: a
        /// later attempt may go through.
        case passing
        /// The credentials, the permission or the signed address were refused.
        case permission
        /// The request cannot be made as it is.
        case usage
        /// What arrived is not what was sent.
        case corrupt
        case other
    }

    /// What it means for the whole run, if more than this item.
    package enum RunStop: Sendable, Hashable {
        case credentials
        case unreachable
        case localState
    }

    package var stops: RunStop? {
        switch self {
        case .storage(_, _, let stops, _), .local(_, let stops): stops
        case .manifest: .localState
        default: nil
        }
    }

    package var requestID: String? {
        if case .storage(_, let requestID, _, _) = self { requestID } else { nil }
    }

    /// What failed and what to do, safe to print; the key stands in the event beside it.
    package var message: String {
        switch self {
        case .vanished:
            "the object was deleted after it was listed; the next run settles it"
        case .keepsChanging:
            "the object was replaced \(DownloadState.maximumRestarts + 1) times while it was "
                + "fetched; the local file is untouched, run again when it rests"
        case .corrupt(let expected, let found):
            "the content has CRC-64 \(found.value) and the service states \(expected.value), "
                + "twice; the local file is untouched"
        case .disproved:
            "the content is not the one whose digest the service states, twice; the local file is "
                + "untouched"
        case .sourceKeepsChanging:
            "the file is being written; it is uploaded by a run that finds it at rest"
        case .targetChanged:
            "the file changed after the plan was made and was left as it is; run again"
        case .needsRestore:
            "the object is archived and must be restored before it can be read"
        case .cannotResume:
            "the file is not the one that was being uploaded; the unfinished upload was aborted, "
                + "start again"
        case .uploadVanished:
            "the service dropped the unfinished upload; the next run starts it again"
        case .alreadyExists:
            "another writer made or changed the object after it was listed; it was left as it is, "
                + "run again"
        case .objectExists:
            "the listing lacked the object and the store has it; the file was left as it is, run"
                + " again"
        case .fileExists:
            "a file is there already, and it is not to be replaced"
        case .tooLarge(let size, let limit):
            "the file has \(size) bytes and the service takes at most \(limit)"
        case .held:
            "another transfer of the same file is under way"
        case .cancelled:
            "interrupted; what was transferred is kept for the next run"
        case .storage(let message, _, _, _), .local(let message, _), .manifest(let message),
            .nameTaken(let message), .diskFull(let message):
            message
        }
    }
}
