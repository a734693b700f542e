public import SyncModel

/// What one direction would do, counted without doing or reading anything.
public struct PlannedWork: Sendable, Hashable {
    /// Files to download or objects to upload.
    public var transfers = 0
    /// Bytes that those have to move.
    public var bytes: Int64 = 0
    /// Bytes of those that interrupted transfers have moved already.
    public var bytesResumed: Int64 = 0
    /// Bytes of what is to move that the store may copy from the versions that are replaced, at
    /// most; only reading the files shows how much it is.
    public var bytesCopied: Int64 = 0
    /// Items that are copied or renamed where they are: what has their content is there under
    /// another name.
    public var renames = 0
    /// Files or objects to delete, as far as the options ask for it.
    public var deletions = 0
    /// Items whose content must be compared before it is known what to do; usually nothing.
    public var comparisons = 0
    /// Items changed on both sides.
    public var conflicts = 0
    /// Items that would be skipped as unsafe or impossible.
    public var skipped = 0
    /// Local changes that a pull would keep.
    public var localChanges = 0
    /// Items of which only the permissions are carried.
    public var modes = 0
    /// Items that need nothing.
    public var unchanged = 0
    /// Why none of the deletions would be carried out, or the run be refused without any, safe to
    /// print; nil if nothing is known that holds them back.
    public var deletionsHeldBack: String?

    /// Makes empty work.
    public init() {}

    /// True if a run would have nothing to do.
    public var isEmpty: Bool {
        transfers == 0 && renames == 0 && deletions == 0 && comparisons == 0 && conflicts == 0
            && skipped == 0 && modes == 0
    }

    /// Adds the counts of another work.
    public static func += (left: inout PlannedWork, right: PlannedWork) {
        left.transfers += right.transfers
        left.bytes = left.bytes.addingClamped(right.bytes)
        left.bytesResumed = left.bytesResumed.addingClamped(right.bytesResumed)
        left.bytesCopied = left.bytesCopied.addingClamped(right.bytesCopied)
        left.renames += right.renames
        left.deletions += right.deletions
        left.comparisons += right.comparisons
        left.conflicts += right.conflicts
        left.skipped += right.skipped
        left.localChanges += right.localChanges
        left.modes += right.modes
        left.unchanged += right.unchanged
    }
}

/// What one direction would do with one item.
package struct PlannedStep: Sendable, Hashable {
    /// The direction.
    package var direction: SyncDirection
    /// What it would do; adopt where the contents must be compared first.
    package var action: ItemAction
    /// The key relative to the remote's prefix.
    package var key: String
    /// The key in a form that is safe to print.
    package var displayKey: String
    /// Bytes to transfer or to compare.
    package var size: Int64
    /// Why, safe to print.
    package var reason: String
    /// What it adds to the counts of the direction.
    package var work: PlannedWork
}

/// What is found while a status is made.
package enum StatusDetail: Sendable, Hashable {
    /// An item that a direction would not leave as it is.
    case item(PlannedStep)
    /// A name that a filter leaves out; see ``SyncEvent/excluded(key:displayKey:rule:)``.
    case excluded(key: String, displayKey: String, rule: String)
}

/// A transfer that a run left unfinished and the next one resumes.
package struct InterruptedTransfer: Sendable, Hashable {
    /// Download or upload.
    package var action: ItemAction
    /// The key relative to the remote's prefix.
    package var key: String
    /// The key in a form that is safe to print.
    package var displayKey: String
    /// The size in bytes of the whole.
    package var size: Int64
    /// Bytes that need not be moved again.
    package var bytesFinished: Int64
}

/// What differs between the two sides and what the last run left, regardless of what a run would do
/// about it.
public struct Differences: Sendable, Hashable {
    /// What only the directory has, without ``notMirrored``.
    public var onlyLocal = 0
    /// What only the remote has.
    public var onlyRemote = 0
    /// Files that were changed since the last run.
    public var localChanges = 0
    /// Objects that were changed since the last run.
    public var remoteChanges = 0
    /// What was deleted in the directory and is in the remote.
    public var deletedHere = 0
    /// What was deleted in the remote and is in the directory.
    public var deletedThere = 0
    /// Names that the filters leave out, of objects and of files; an excluded directory is one.
    public var excluded = 0
    /// Symbolic links, special files, reserved names on either side, and recorded files in a
    /// directory that is left out because of a file in it; no run mirrors them.
    public var notMirrored = 0
    /// Names on both sides that may differ, which only reading them can show: those that were never
    /// recorded, and files whose time changed.
    public var unknown = 0
    /// Files that were found damaged; each counts as that until it is repaired, or read once more.
    public var damaged = 0

    /// Makes no differences.
    public init() {}

    /// True if nothing differs or may differ; what the user's filters name does not count.
    public var isEmpty: Bool {
        onlyLocal == 0 && onlyRemote == 0 && localChanges == 0 && remoteChanges == 0
            && deletedHere == 0 && deletedThere == 0 && notMirrored == 0 && unknown == 0
            && damaged == 0
    }
}

/// What pull, push and sync would do, and what was interrupted.
public struct StatusReport: Sendable, Hashable {
    /// The paths that it is limited to; none for the whole mirror.
    public var paths: [String]
    /// What a pull would do.
    public var pull: PlannedWork
    /// What a push would do.
    public var push: PlannedWork
    /// What a sync would do.
    public var sync: PlannedWork
    /// What differs.
    public var differences: Differences
    /// Transfers that the next run resumes, at most 1,000.
    package var interrupted: [InterruptedTransfer]
    /// The run that is active in another process, whose transfers are among those.
    package var running: PastRun?
    /// What is only in the bucket because it was freed.
    package var freed: FreedFiles
    /// Files that the manifest records.
    public var recorded: Int
    /// What is in the trash of the directory; nothing if it cannot be read.
    package var trash = TrashReport()
    /// When the last complete run of a direction ended.
    public var lastSuccess: [SyncDirection: StoreTime]
    /// What leaves open whether something differs, safe to print; at most 100.
    public var issues: [String]
    /// What else is to be known, safe to print; it makes no difference.
    public var warnings: [String]

    /// True if both sides are equal, but for what the user's filters name.
    public var isInStep: Bool { differences.isEmpty && issues.isEmpty && sync.skipped == 0 }
}

/// What dropping checkpoints removed.
package struct CancelReport: Sendable, Hashable {
    /// Unfinished downloads whose partial files were deleted.
    package var downloadsDropped = 0
    /// Multipart uploads that were aborted.
    package var uploadsAborted = 0
    /// Bytes of transfers that are lost by it.
    package var bytesDropped: Int64 = 0
}
