/// Which side a run changes.
public enum SyncDirection: String, Sendable, Hashable {
    /// The bucket's content goes to the directory.
    case pull
    /// The directory's content goes to the bucket.
    case push
    /// Both ways.
    case sync
}

/// What a run does when both sides changed and differ.
public enum ConflictPolicy: String, Sendable, Hashable, CaseIterable {
    /// Pull keeps the local version beside the new one; push skips and reports.
    case keepBoth = "keep-both"
    /// The local version wins.
    case local
    /// The remote version wins; the local one goes to the trash.
    case remote
    /// Neither side is changed and the conflict is reported.
    case skip
    /// The run ends at the first conflict.
    case fail
}

/// How much a run waits for the disk before it says that a file is there.
public enum Durability: String, Sendable, Hashable, CaseIterable {
    /// A file counts as mirrored when it would survive a power cut.
    case full
    /// A file counts as mirrored when the file system has it; a power cut may lose recent ones.
    case fast
}

/// The limit on deletions, above which a run refuses to delete anything.
public enum DeletionLimit: Sendable, Hashable {
    /// At most this many objects or files.
    case count(Int)
    /// At most this share of what the manifest records, from 0 to 100.
    case percent(Int)
}

/// The choices of one run, spelled at the call: the library has no defaults of its own for policy.
public struct RunOptions: Sendable, Hashable {
    /// Nothing is transferred, written, deleted or recorded; the plan is reported as events.
    public var isDryRun: Bool
    /// Deletes what the manifest knows, the other side lost and nobody changed since.
    public var deletesKnown: Bool
    /// Also deletes what was never synced; a sync sends or fetches that instead.
    public var deletesExtra: Bool
    /// The limit on deletions; a percentage does not apply to 10 or fewer.
    public var deletionLimit: DeletionLimit
    /// Accepts an empty listing or directory where the manifest has rows.
    public var allowsEmpty: Bool
    /// Accepts another remote than the one the manifest was made with.
    public var allowsRebinding: Bool
    /// Pull: replaces local changes; the old version goes to the trash.
    public var replacesLocalChanges: Bool
    /// What to do when both sides changed and differ.
    public var conflictPolicy: ConflictPolicy
    /// Compares content where size and mtime say "unchanged".
    public var comparesContent: Bool
    /// The largest number of requests in flight.
    public var connectionLimit: Int
    /// The preferred size of a part or range, in bytes.
    public var partSize: Int64
    /// How much a run waits for the disk.
    public var durability: Durability
    /// How long the trash keeps what runs removed, in days; 0 removes at once.
    public var trashDays: Int
    /// What is left alone, after what the mirror's `.osssyncignore` says; nothing unless set.
    public var filter = FileFilter()
    /// Deletes what the filter hides on the side that is changed, if it is recorded and unchanged.
    ///
    /// False unless set; takes ``deletesKnown`` as well. A sync leaves alone what is excluded.
    public var deletesExcluded = false

    /// What `osssync` itself does where it is told nothing: both sides are kept in a conflict,
    /// nothing is deleted, eight requests at once, parts of 8 MiB, every file on the disk, seven
    /// days of trash.
    public static let standard = RunOptions(
        isDryRun: false,
        deletesKnown: false,
        deletesExtra: false,
        deletionLimit: .percent(50),
        allowsEmpty: false,
        allowsRebinding: false,
        replacesLocalChanges: false,
        conflictPolicy: .keepBoth,
        comparesContent: false,
        connectionLimit: 8,
        partSize: 8 << 20,
        durability: .full,
        trashDays: 7
    )

    /// Makes the options of one run; every one is spelled.
    public init(
        isDryRun: Bool,
        deletesKnown: Bool,
        deletesExtra: Bool,
        deletionLimit: DeletionLimit,
        allowsEmpty: Bool,
        allowsRebinding: Bool,
        replacesLocalChanges: Bool,
        conflictPolicy: ConflictPolicy,
        comparesContent: Bool,
        connectionLimit: Int,
        partSize: Int64,
        durability: Durability,
        trashDays: Int
    ) {
        self.isDryRun = isDryRun
        self.deletesKnown = deletesKnown
        self.deletesExtra = deletesExtra
        self.deletionLimit = deletionLimit
        self.allowsEmpty = allowsEmpty
        self.allowsRebinding = allowsRebinding
        self.replacesLocalChanges = replacesLocalChanges
        self.conflictPolicy = conflictPolicy
        self.comparesContent = comparesContent
        self.connectionLimit = connectionLimit
        self.partSize = partSize
        self.durability = durability
        self.trashDays = trashDays
    }
}
