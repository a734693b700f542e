package import SyncModel

/// Some consecutive entries of a walk.
package struct WalkBatch: Sendable, Hashable {
    /// In key order, also across batches.
    package var entries: [LocalEntry]
    /// In key order among themselves; each comes no later than the first entry behind it.
    package var issues: [WalkIssue]
    /// True if nothing follows.
    package var isFinished: Bool
}
