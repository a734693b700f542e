package import SyncModel

/// How a run ended; the text is what the manifest stores.
package enum RunOutcome: String, Sendable, Hashable, CaseIterable {
    /// Both sides agree, as far as was asked.
    case complete
    /// Something failed, was skipped, conflicted or was held back.
    case incomplete
    /// A guard refused.
    case refused
    case cancelled
    /// An error ended it.
    case failed
}

/// What is recorded of a run in numbers, in the order of the columns.
package enum RunCount: Sendable, CaseIterable {
    case transferred
    /// Moved over the network as content.
    case bytes
    /// Spared by checkpoints.
    case bytesResumed
    case deleted, renamed, adopted, unchanged, conflicts, failed, skipped, localChanges, requests
    /// Objects that were listed and gone a moment later.
    case vanished
    /// Of the items that both sides had at its end, within its paths.
    case bytesInBoth
}

/// The end of a run.
package struct RunRecord: Sendable, Hashable {
    package let outcome: RunOutcome
    package let seconds: Double
    /// All of them.
    package let counts: [RunCount: Int64]
    /// What ended or limited it, nil if nothing did; cut at 4,096 bytes.
    package let message: String?

    package init(
        outcome: RunOutcome,
        seconds: Double,
        counts: [RunCount: Int64],
        message: String?
    ) {
        self.outcome = outcome
        self.seconds = seconds
        self.counts = counts
        self.message = message
    }
}

/// A run as the manifest has it.
package struct StoredRun: Sendable, Hashable {
    package let id: RunID
    /// `pull`, `push` or `sync`.
    package let direction: String
    package let started: Timestamp
    /// The remote as text for a person.
    package let remote: String
    /// What the run was limited to, a path a line, safe to print; nil for a run of the whole
    /// mirror; cut at 4,096 bytes.
    package let paths: String?
    /// Nil while it goes on, and for ever if it was killed.
    package var record: RunRecord?
}

/// Something a run did that is worth keeping: an item that went wrong or was deleted.
package struct RunItem: Sendable, Hashable {
    package let key: ObjectKey
    /// One of the engine's words, in lower-case letters and hyphens.
    package let action: String
    package let state: String
    /// Cut at 4,096 bytes.
    package let message: String?

    package init(key: ObjectKey, action: String, state: String, message: String?) {
        self.key = key
        self.action = action
        self.state = state
        self.message = message
    }
}

/// An item with its place in the run, which is the cursor to go on from.
package struct StoredRunItem: Sendable, Hashable {
    /// From 1, in the order of recording.
    package let number: Int64
    package let item: RunItem
}
