public import SyncModel

/// The options of one run: ``standard``, with what the caller sets.
public struct RunOptions: Sendable, Hashable {
    /// Nothing is transferred, written, deleted or recorded; the plan is reported as events.
    public var isDryRun = false
    /// Deletes what the manifest has, the other side lost and this side has not changed since.
    public var deletesKnown = false
    /// Also deletes what was never synced; a sync sends or fetches that instead.
    public var deletesExtra = false
    /// The limit on deletions; a percentage does not apply to 10 or fewer.
    public var deletionLimit = DeletionLimit.percent(50)
    /// Accepts an empty listing or directory where the manifest has rows.
    public var allowsEmpty = false
    /// Accepts another remote than the one the manifest was made with.
    public var allowsRebinding = false
    /// Pull: replaces local changes; the old version goes to the trash.
    public var replacesLocalChanges = false
    /// What to do when both sides changed and differ.
    public var conflictPolicy = ConflictPolicy.keepBoth
    /// Compares content where size and mtime say "unchanged".
    public var comparesContent = false
    /// The largest number of requests in flight.
    ///
    /// A run begins with 16 of them at most, and with more as long as that is faster.
    public var connectionLimit = 128
    /// The preferred size of a part or range, in bytes.
    public var partSize: Int64 = 8 << 20
    /// How long the trash keeps what runs removed, in days; 0 removes at once.
    public var trashDays = 7
    /// Where the run keeps what it deletes or replaces; ``TrashPlace/local`` unless set.
    ///
    /// If the copy of an object cannot be made and proven, the item fails and its object stays.
    public var trash = TrashPlace.local
    /// The path of a directory on the mirror's file system, outside of it, to which a pull or sync
    /// moves files before it deletes or replaces them; nil: the trash, and only what is deleted.
    ///
    /// It is never emptied.
    public var backupDirectory: String?
    /// What to skip, in addition to the mirror's `.osssyncignore`; nothing unless set.
    public var filter = FileFilter()
    /// Deletes what the filter hides on the side that is changed, if it is recorded and unchanged.
    ///
    /// False unless set; requires ``deletesKnown`` as well. A sync never deletes what is excluded.
    public var deletesExcluded = false
    /// Files and directories beneath the mirror's directory, with "/" between names, to which the
    /// run is limited; none means all.
    ///
    /// The run lists, walks, transfers and deletes only what lies at and beneath them, and the
    /// guards of deletion count what lies there. Paths need not exist on both sides, but on one, or
    /// in the manifest. They cannot be combined with ``allowsRebinding``.
    public var paths: [String] = []
    /// Accepts paths that exist nowhere, as those of files that were made and deleted again; false
    /// unless set.
    public var allowsMissingPaths = false
    /// What becomes of what was freed of ``paths``.
    package var freed = FreedPolicy.comeBackOrEnd
    /// How long to wait for another run that holds the directory; nil: as long as it takes.
    ///
    /// Zero unless set: the run fails at once with code `locked`.
    public var lockTimeout: Duration? = .zero
    /// Keeps modification times of files and permissions of files and directories in the metadata
    /// of objects, and restores them; true unless set.
    ///
    /// Otherwise, a file that is fetched has the time at which its object was written, and the
    /// permissions of an ordinary new file.
    public var keepsFileMetadata = true
    /// What the run does with symbolic links; skips them unless set.
    ///
    /// Links that an earlier run stored are left as they are, on both sides, by one that skips
    /// them.
    public var links = LinkPolicy.skip
    /// What becomes of keys that fit no file name.
    public var names = NamePolicy.skip
    /// What a push or sync writes objects with, beside their content; of what it replaces, all else
    /// stays.
    public var properties = ObjectProperties.none
    /// Stops the run once it has moved this many bytes of content; nil: no limit.
    ///
    /// It may move what fits into about a second more. A run that stops so ends without an error,
    /// deletes nothing more, and the next one continues; see ``RunSummary/reachedLimit``.
    public var maximumTransfer: Int64?
    /// Stops the run after this time; nil: no limit.
    public var maximumDuration: Duration?
    /// Asks the store to restore archived objects that are to be fetched, for so many days; nil:
    /// they are only reported.
    ///
    /// A restored object is fetched by the run that finds it so.
    public var restoreDays: Int?
    /// Makes directories for markers, and markers for directories that are empty or have
    /// permissions of their own; true unless set.
    ///
    /// Otherwise, neither is made; those that are recorded are deleted as ever.
    public var keepsEmptyDirectories = true
    /// Pull: the versioned bucket as it was then; nil: as it is.
    ///
    /// Such a directory is a mirror of that time only.
    public var asOf: StoreTime?
    /// What the run has to do with a saved plan; nothing unless set.
    ///
    /// Only a dry run saves one, and only another run carries one out.
    package var plan: PlanUse?
    /// Reports each name that a filter leaves out as an event.
    public var namesExcluded = false
    /// The shards of a cut mirror that the run is limited to; nil for all, and for a mirror that is
    /// not cut.
    package var shard: ShardSelection?

    /// Moves files to the trash before other versions replace them, also those that are as
    /// recorded; false unless set.
    package var keepsReplaced = false

    /// True if files that are removed are kept.
    var keepsRemoved: Bool {
        trashDays > 0 && trash != .none || backupDirectory != nil
    }

    /// The plan that the run is limited to; nil for any other run.
    var appliedPlan: SavedPlan? {
        if case .apply(let plan)? = plan, !isDryRun { plan } else { nil }
    }

    /// What `osssync` does without options: both sides are kept in a conflict, nothing is deleted,
    /// as many requests at once as the line and the service take, up to 128, parts of 8 MiB, every
    /// file on the disk, seven days of trash.
    public static let standard = RunOptions()

    private init() {}
}

extension RunOptions {
    /// What changes which items are mirrored, and how, by the names and words that users know: all
    /// processes of a round have the same.
    ///
    /// Everything else, such as the number of connections, each of them may have for itself.
    package var deciding: [(name: String, value: String)] {
        [
            ("--delete", deletions),
            ("--force", "\(replacesLocalChanges)"),
            ("--on-conflict", conflictPolicy.rawValue),
            ("--checksum", "\(comparesContent)"),
            ("--trash-days", "\(trashDays)"),
            ("--trash", trash.rawValue),
            ("--backup-dir", backupDirectory ?? ""),
            ("filters", String(decoding: filter.text, as: UTF8.self)),
            ("--no-metadata", "\(!keepsFileMetadata)"),
            ("--links", links.rawValue),
            ("--names", names.rawValue),
            ("--no-empty-dirs", "\(!keepsEmptyDirectories)"),
            ("--as-of", asOf.map { "\($0.secondsSince1970)" } ?? ""),
            ("properties", Self.text(properties)),
        ]
    }

    private var deletions: String {
        guard deletesExtra || deletesExcluded else { return "\(deletesKnown)" }
        return (deletesExtra ? "extra" : "") + (deletesExcluded ? "excluded" : "")
    }

    /// The same text in every process, for which dictionaries have no order.
    private static func text(_ properties: ObjectProperties) -> String {
        var values: [(String, String?)] = [
            ("Content-Type", properties.contentType), ("class", properties.storageClass),
            ("encryption", properties.encryption.map(text)), ("acl", properties.accessControl),
        ]
        values += properties.contentHeaders.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        values += properties.sortedMetadata.map { ("metadata \($0.name)", $0.value) }
        values += properties.sortedTags.map { ("tag \($0.name)", $0.value) }
        return values.compactMap { name, value in value.map { "\(name)=\($0)" } }
            .joined(separator: ", ")
    }

    private static func text(_ encryption: ObjectProperties.Encryption) -> String {
        switch encryption {
        case .aes256: "aes256"
        case .kms(nil): "kms"
        case .kms(let key?): "kms:" + key
        }
    }
}
