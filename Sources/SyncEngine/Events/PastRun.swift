public import SyncModel

/// A run as the manifest recorded it.
public struct PastRun: Sendable, Hashable {
    /// Its number.
    public var number: Int64
    /// `pull`, `push` or `sync`.
    public var direction: String
    /// When it began.
    public var started: StoreTime
    /// The remote, safe to print.
    public var remote: String
    /// The paths that the run was limited to; none for a run of the whole mirror.
    public var paths: [String]
    /// How it ended; nil while it goes on, and if it was killed.
    public var end: End?
    /// True while it is active.
    public var isRunning = false

    /// How a run ended.
    public struct End: Sendable, Hashable {
        /// `complete`, `incomplete`, `refused`, `cancelled` or `failed`.
        public var outcome: String
        /// How long it took.
        public var seconds: Double
        /// Items whose content was transferred.
        public var transferred: Int64
        /// Bytes of them that were moved over the network.
        public var bytes: Int64
        /// Items that were deleted.
        public var deleted: Int64
        /// Items that were renamed.
        public var renamed: Int64
        /// Conflicts.
        public var conflicts: Int64
        /// Items that failed.
        public var failed: Int64
        /// Items that were skipped.
        public var skipped: Int64
        /// What ended or limited it, safe to print.
        public var message: String?
        /// Items that both sides had at its end, within its paths.
        public var itemsInBoth: Int64 = 0
        /// Bytes of them.
        public var bytesInBoth: Int64 = 0
    }
}

/// An item that a run recorded: one that went wrong, was left as it was, deleted, replaced or, as
/// far as there is room, transferred.
public struct PastItem: Sendable, Hashable {
    /// The key relative to the remote's prefix.
    public var key: String
    /// The key in a form that is safe to print.
    public var displayKey: String
    /// What was done, in the words of ``ItemAction``.
    public var action: String
    /// How it ended, in the words of ``ItemState``.
    public var state: String
    /// Why, safe to print.
    public var message: String?
}
