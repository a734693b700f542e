/// What one direction would do, counted without doing or reading anything.
public struct PlannedWork: Sendable, Hashable {
    /// Files to download or objects to upload.
    public var transfers = 0
    /// Bytes that those have.
    public var bytes: Int64 = 0
    /// Files or objects to delete, as far as the options ask for it.
    public var deletions = 0
    /// Items whose content must be compared before it is known what to do; usually nothing.
    public var comparisons = 0
    /// Items changed on both sides.
    public var conflicts = 0
    /// Items that would be left alone as unsafe or impossible.
    public var skipped = 0
    /// Local changes that a pull would keep.
    public var localChanges = 0
    /// Items that need nothing.
    public var unchanged = 0

    /// Makes empty work.
    public init() {}

    /// True if a run would have nothing to do.
    public var isEmpty: Bool {
        transfers == 0 && deletions == 0 && comparisons == 0 && conflicts == 0 && skipped == 0
    }
}

/// A transfer that a run left unfinished and the next one goes on with.
public struct InterruptedTransfer: Sendable, Hashable {
    /// Download or upload.
    public var action: ItemAction
    /// The key, safe to print.
    public var key: String
    /// The size in bytes of the whole.
    public var size: Int64
    /// Bytes that need not be moved again.
    public var bytesFinished: Int64
}

/// What pull, push and sync would do, and what was interrupted.
public struct StatusReport: Sendable, Hashable {
    /// What a pull would do.
    public var pull: PlannedWork
    /// What a push would do.
    public var push: PlannedWork
    /// What a sync would do.
    public var sync: PlannedWork
    /// Transfers that the next run goes on with, at most 1,000.
    public var interrupted: [InterruptedTransfer]
    /// Files that the manifest records.
    public var recorded: Int
    /// What the walk of the directory could not take, safe to print; at most 100.
    public var issues: [String]
}

/// What dropping checkpoints removed.
public struct CancelReport: Sendable, Hashable {
    /// Unfinished downloads whose partial files were deleted.
    public var downloadsDropped = 0
    /// Multipart uploads that were aborted.
    public var uploadsAborted = 0
    /// Bytes of transfers that are lost by it.
    public var bytesDropped: Int64 = 0
}
