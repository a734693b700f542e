/// Which local copies of what the bucket has are removed.
package struct FreeOptions: Sendable, Hashable {
    /// What is looked at, as by a run: paths, filter, links, names, connections; a dry run says
    /// what would be freed.
    package var run: RunOptions
    /// Only files that were last modified at least this long ago.
    package var minimumAge: Duration?
    /// Ends once so many bytes of the disk are free, the oldest modification first; nil: frees all.
    package var freeBytesWanted: Int64?

    /// Makes options that free everything at the paths of `run`.
    package init(run: RunOptions = .standard) {
        self.run = run
    }
}

/// A file that was looked at to be freed.
package struct FreedFile: Sendable, Hashable {
    /// The key relative to the remote's prefix.
    package var key: String
    /// The key in a form that is safe to print.
    package var displayKey: String
    /// Bytes of the file.
    package var size: Int64
    /// Why the file is kept, safe to print; nil if it was removed, or would be.
    package var reasonKept: String?
}

/// What was freed.
package struct FreeReport: Sendable, Hashable {
    /// Files that were removed here.
    package var files = 0
    /// Their bytes.
    package var bytes: Int64 = 0
    /// Those of them whose objects must be restored before a pull can have them.
    package var archived = 0
    /// Files that stay, because the bucket was not shown to have them.
    package var kept = 0
    /// False if less of the disk is free than was wanted.
    package var isEnough = true
    /// What is free then; nil unless some was wanted.
    package var freeBytes: Int64?

    /// Makes an empty report.
    package init() {}
}

/// What is only in the bucket because it was freed.
package struct FreedFiles: Sendable, Hashable {
    /// How many objects.
    package var count = 0
    /// Their bytes.
    package var bytes: Int64 = 0
    /// Files, and directories with a "/" at the end, as they were freed, not safe to print; the
    /// first 100 of them.
    package var paths: [String] = []

    /// Nothing.
    package init() {}
}
