package import SyncModel

/// A run as the manifest recorded it.
package struct PastRun: Sendable, Hashable {
    /// Its number.
    package var number: Int64
    /// `pull`, `push` or `sync`.
    package var direction: String
    /// When it began.
    package var started: StoreTime
    /// The remote, safe to print.
    package var remote: String
    /// The paths that the run was limited to; none for a run of the whole mirror.
    package var paths: [String]
    /// How it ended; nil while it goes on, and if it was killed.
    package var end: End?
    /// True while it is active.
    package var isRunning = false

    /// True for a run that did something with an item, or tried.
    package var hadItems: Bool {
        guard let end else { return true }
        let counts = [end.transferred, end.deleted, end.renamed, end.conflicts, end.failed]
        return counts.contains { $0 > 0 }
    }

    /// How a run ended.
    package struct End: Sendable, Hashable {
        /// `complete`, `incomplete`, `refused`, `cancelled` or `failed`.
        package var outcome: String
        /// How long it took.
        package var seconds: Double
        /// Items whose content was transferred.
        package var transferred: Int64
        /// Bytes of them that were moved over the network.
        package var bytes: Int64
        /// Items that were deleted.
        package var deleted: Int64
        /// Items that were renamed.
        package var renamed: Int64
        /// Conflicts.
        package var conflicts: Int64
        /// Items that failed.
        package var failed: Int64
        /// Items that were skipped.
        package var skipped: Int64
        /// What ended or limited it, safe to print.
        package var message: String?
        /// Items that both sides had at its end, within its paths.
        package var itemsInBoth: Int64 = 0
        /// Bytes of them.
        package var bytesInBoth: Int64 = 0
    }
}

/// An item that a run recorded: one that went wrong, was left as it was, deleted, replaced or, as
/// far as there is room, transferred.
package struct PastItem: Sendable, Hashable {
    /// The key relative to the remote's prefix.
    package var key: String
    /// The key in a form that is safe to print.
    package var displayKey: String
    /// What was done, in the words of ``ItemAction``.
    package var action: String
    /// How it ended, in the words of ``ItemState``.
    package var state: String
    /// Why, safe to print.
    package var message: String?
}
