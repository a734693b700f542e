package import SyncModel

/// Why the manifest could not be read or written.
package enum ManifestError: Error, Sendable, Hashable {
    /// The file is not a sound database of ours.
    case damaged(path: String, detail: String)
    /// A row holds what was never written: by its table and its name, safe to print.
    case invalidRow(table: String, row: String, problem: String)
    /// The file was written by a newer version; it was left untouched.
    case newerSchema(path: String, found: Int64, supported: Int64)
    case diskFull(path: String)
    case quotaExceeded(path: String)
    /// Another process holds the database.
    case inUse(path: String)
    case unusable(path: String, reason: String)
    case systemCall(call: String, path: String, errno: Int32)
    /// The value breaks a limit of the manifest and was not written.
    case invalidValue(String)
    /// The change contradicts what is stored, and nothing was changed.
    case rejected(String)
    /// The checkpoint was dropped or replaced while its transfer went on.
    case checkpointGone(ObjectKey)
    /// The directory's marker could not be written, which comes before the first change.
    case notMarked(reason: String, isOutOfRoom: Bool)
    /// Another process may write the manifest: why, safe to print.
    case leaseLost(reason: String)
    /// The store was closed.
    case closed

    /// True if the file must be set aside and made anew: opening it again does so.
    package var isDamage: Bool {
        switch self {
        case .damaged, .invalidRow: true
        default: false
        }
    }

    /// True if the error concerns one call, and not the database.
    var concernsOneCall: Bool {
        switch self {
        case .invalidValue, .rejected, .checkpointGone: true
        default: false
        }
    }

    /// What failed, and what the user can do; safe to print.
    package var message: String {
        switch self {
        case .damaged(let path, let detail):
            "the manifest '\(displayText(path.utf8))' is damaged: \(displayText(detail.utf8)); "
                + "the next run sets it aside and creates a new one from both sides"
        case .invalidRow(let table, let row, let problem):
            "the manifest's table \(table) has a damaged row '\(row)': \(problem); "
                + "the next run sets the manifest aside and creates a new one"
        case .newerSchema(let path, let found, let supported):
            "the manifest '\(displayText(path.utf8))' was written by a newer osssync "
                + "(format \(found), this version reads up to \(supported)); "
                + "it was not changed; use the newer version"
        case .diskFull(let path):
            "no space is left for the manifest '\(displayText(path.utf8))'; "
                + "free some space and run again (recorded data is kept)"
        case .quotaExceeded(let path):
            "the disk quota leaves no space for the manifest '\(displayText(path.utf8))'; "
                + "free some space and run again (recorded data is kept)"
        case .inUse(let path):
            "the manifest '\(displayText(path.utf8))' is in use by another process"
        case .unusable(let path, let reason):
            "the manifest '\(displayText(path.utf8))' cannot be used: \(displayText(reason.utf8))"
        case .systemCall(let call, let path, let errno):
            "\(call) failed on '\(displayText(path.utf8))': \(systemMessage(errno))"
        case .invalidValue(let problem):
            "the manifest cannot record this: \(problem)"
        case .rejected(let detail):
            "the manifest refused a change: \(displayText(detail.utf8))"
        case .checkpointGone(let key):
            "the checkpoint of '\(key.display)' is gone or belongs to another transfer"
        case .notMarked(let reason, _):
            "nothing is recorded, because the directory's marker cannot be written: \(reason)"
        case .leaseLost(let reason): reason
        case .closed:
            "the manifest was closed"
        }
    }
}
