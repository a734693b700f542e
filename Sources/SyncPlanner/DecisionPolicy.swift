package import SyncModel

/// Everything but the entry itself that a decision depends on.
package struct DecisionPolicy: Sendable, Hashable {
    package var direction: SyncDirection
    /// Deletes what the manifest knows, the other side lost and nobody changed since.
    package var deletesKnown: Bool
    /// Also deletes what was never synced, which includes ``deletesKnown``; without effect on a
    /// sync.
    package var deletesExtra: Bool
    /// Pull: replaces local changes where the remote is as recorded.
    ///
    /// In all directions: what is damaged counts as changed.
    package var replacesLocalChanges: Bool
    /// Compares content where size, times and inode say "unchanged".
    package var comparesContent: Bool
    package var conflict: ConflictPolicy
    /// False where inode numbers do not last, as on some network file systems.
    package var judgesInodes: Bool
    /// False where the directory is not as the last run left it: another content than the recorded
    /// one may be an older version, and counts as never recorded.
    package var knowsDirectory = true
    /// False if no directories and markers are made for their own sake; what is recorded of them is
    /// deleted as ever.
    package var keepsEmptyDirectories = true
    /// Permissions are carried where nothing else changed.
    package var carriesModes = false
    /// False at a store that drops them from the copies by which they are sent.
    package var sendsModes = true
    /// The permissions that a new directory has here, which no marker needs to record; nil where
    /// the disk does not keep those of directories, or the store not those of markers.
    package var ordinaryDirectory: UInt32?
    /// What becomes of symbolic links, and so of the keys that stored ones have.
    package var links = LinkPolicy.skip
    /// What becomes of keys that fit no file name.
    package var names = NamePolicy.skip
    /// The longest key in bytes that can be uploaded: the service's limit less the prefix.
    package var maximumKeyLength: Int

    package init(
        direction: SyncDirection,
        deletesKnown: Bool,
        deletesExtra: Bool,
        replacesLocalChanges: Bool,
        comparesContent: Bool,
        conflict: ConflictPolicy,
        judgesInodes: Bool,
        maximumKeyLength: Int
    ) {
        self.direction = direction
        self.deletesKnown = deletesKnown
        self.deletesExtra = deletesExtra
        self.replacesLocalChanges = replacesLocalChanges
        self.comparesContent = comparesContent
        self.conflict = conflict
        self.judgesInodes = judgesInodes
        self.maximumKeyLength = maximumKeyLength
    }

    /// True for a key whose file has an escaped name.
    ///
    /// It has no place among the others: it is beneath none of them, and none beneath it.
    package func escapes(_ key: ObjectKey) -> Bool {
        names == .escape && RelativePath.isEscaped(key, links: links)
    }

    /// True if a known, unchanged key that one side lost is deleted on the other.
    package var deletes: Bool { deletesKnown || deletesExtra }
}
