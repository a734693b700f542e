package import SyncModel

extension ManifestStore {
    /// Opens the manifest in `directory`, which is the state directory and exists.
    ///
    /// A missing one is made; a damaged or foreign one is set aside and made anew, as the outcome
    /// says. `now` names what is set aside. Without `usesWriteAheadLog`, for network file systems,
    /// a rollback journal is used and every commit waits for the disk; without `hasLocks` SQLite
    /// takes none, because the file system has none. SQLite runs on one of
    /// `threads`. Entries that are recorded from now on are found by size, tag or inode if they
    /// have `smallestSearchable` bytes or more.
    ///
    /// - Throws: ``ManifestError``; with ``ManifestError/newerSchema(path:found:supported:)`` the
    ///   file was left untouched.
    package static func open(
        directory: String,
        now: Timestamp,
        usesWriteAheadLog: Bool,
        hasLocks: Bool = true,
        threads: BlockingThreads,
        smallestSearchable: Int64
    ) async throws(ManifestError) -> (store: ManifestStore, outcome: OpenOutcome) {
        try await open(
            directory: directory,
            now: now,
            usesWriteAheadLog: usesWriteAheadLog,
            hasLocks: hasLocks,
            threads: threads,
            smallestSearchable: smallestSearchable,
            schema: .current
        )
    }

    static func open(
        directory: String,
        now: Timestamp,
        usesWriteAheadLog: Bool,
        hasLocks: Bool = true,
        threads: BlockingThreads,
        smallestSearchable: Int64,
        schema: Schema
    ) async throws(ManifestError) -> (store: ManifestStore, outcome: OpenOutcome) {
        guard !directory.utf8.contains(0) else {
            throw .unusable(path: directory, reason: "the path has a NUL byte")
        }
        let store = ManifestStore(
            files: ManifestFiles(directory: directory, hasLocks: hasLocks),
            threads: threads,
            smallestSearchable: smallestSearchable
        )
        let opening = ManifestOpening(
            files: store.files,
            schema: schema,
            usesWriteAheadLog: usesWriteAheadLog
        )
        return (store, try await store.open(opening, now))
    }

    private func open(
        _ opening: ManifestOpening,
        _ now: Timestamp
    ) throws(ManifestError) -> OpenOutcome {
        let (connection, outcome) = try opening.open(now: now)
        begin(connection)
        return outcome
    }
}
