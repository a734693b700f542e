/// Which local copies of what the bucket has are removed.
public struct FreeOptions: Sendable, Hashable {
    /// What is looked at, as by a run: paths, filter, links, names, connections; a dry run says
    /// what would be freed.
    public var run: RunOptions
    /// Only files that were last modified at least this long ago.
    public var minimumAge: Duration?
    /// Ends once so many bytes of the disk are free, the oldest modification first; nil: frees all.
    public var freeBytesWanted: Int64?

    /// Makes options that free everything at the paths of `run`.
    public init(run: RunOptions = .standard) {
        self.run = run
    }
}

/// A file that was looked at to be freed.
public struct FreedFile: Sendable, Hashable {
    /// The key relative to the remote's prefix.
    public var key: String
    /// The key in a form that is safe to print.
    public var displayKey: String
    /// Bytes of the file.
    public var size: Int64
    /// Why the file is kept, safe to print; nil if it was removed, or would be.
    public var reasonKept: String?
}

/// What was freed.
public struct FreeReport: Sendable, Hashable {
    /// Files that were removed here.
    public var files = 0
    /// Their bytes.
    public var bytes: Int64 = 0
    /// Files that stay, because the bucket was not shown to have them.
    public var kept = 0
    /// False if less of the disk is free than was wanted.
    public var isEnough = true

    /// Makes an empty report.
    public init() {}
}

/// What is only in the bucket because it was freed.
public struct FreedFiles: Sendable, Hashable {
    /// How many objects.
    public var count = 0
    /// Their bytes.
    public var bytes: Int64 = 0
    /// Files, and directories with a "/" at the end, as they were freed, not safe to print; the
    /// first 100 of them.
    public var paths: [String] = []

    /// Nothing.
    public init() {}
}
