package import SyncModel

/// The two places a key can be deleted from; the text is what the manifest stores.
package enum DeletionSide: String, Sendable, Hashable, CaseIterable {
    case local
    case remote
}

/// A deletion that waits for the end of its run.
package struct PlannedDeletion: Sendable, Hashable {
    /// Relative to the remote's prefix; on the local side possibly longer than a key can be.
    package let key: ObjectKey
    package let side: DeletionSide
    /// Bytes, for the report.
    package let size: Int64
    /// The object's version that may be deleted; nil on the local side.
    package let etag: ETag?
    /// The file that may be deleted, to be compared again; nil for a directory and on the remote
    /// side.
    package let identity: FileIdentity?

    package init(
        key: ObjectKey,
        side: DeletionSide,
        size: Int64,
        etag: ETag?,
        identity: FileIdentity?
    ) {
        self.key = key
        self.side = side
        self.size = size
        self.etag = etag
        self.identity = identity
    }
}

/// How many deletions a run has planned.
package struct PlannedDeletionCount: Sendable, Hashable {
    package let local: Int
    package let remote: Int

    package init(local: Int, remote: Int) {
        self.local = local
        self.remote = remote
    }
}
