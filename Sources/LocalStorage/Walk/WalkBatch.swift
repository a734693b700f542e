package import SyncModel

/// Some consecutive entries of a walk.
package struct WalkBatch: Sendable, Hashable {
    /// In key order, also across batches.
    package var entries: [LocalEntry]
    /// In key order among themselves; each comes no later than the first entry behind it.
    package var issues: [WalkIssue]
    /// True if nothing follows.
    package var isFinished: Bool

    package init(entries: [LocalEntry], issues: [WalkIssue], isFinished: Bool) {
        self.entries = entries
        self.issues = issues
        self.isFinished = isFinished
    }
}
