/// Which side a run changes.
public enum SyncDirection: String, Sendable, Hashable, CaseIterable {
    /// The bucket's content goes to the directory.
    case pull
    /// The directory's content goes to the bucket.
    case push
    /// Both ways.
    case sync
}

/// What a run does when both sides changed and differ.
@nonexhaustive
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

/// What a run does with symbolic links.
@nonexhaustive
public enum LinkPolicy: String, Sendable, Hashable, CaseIterable {
    /// They are not mirrored.
    case skip
    /// One that leads to a file of the mirrored directory is mirrored as that file; any other is
    /// not.
    case follow
    /// The text of each is an object, named after the link with the suffix `.rclonelink`, and
    /// becomes a link again.
    case store
}

/// What a run does with keys that fit no file name, such as those with "//" or "..".
@nonexhaustive
public enum NamePolicy: String, Sendable, Hashable, CaseIterable {
    /// They are named and not mirrored.
    case skip
    /// Each has a file in the directory `.osssync-names`, named after the percent-encoded key.
    case escape
}

/// The limit on deletions, above which a run refuses to delete anything.
@nonexhaustive
public enum DeletionLimit: Sendable, Hashable {
    /// At most this many objects or files.
    case count(Int)
    /// At most this share of what the manifest records, from 0 to 100; not asked for 10 deletions
    /// or fewer, and 100 is no limit.
    case percent(Int)
}
