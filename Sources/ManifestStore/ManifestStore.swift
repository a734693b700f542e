package import SyncModel

/// The last state that both sides had in common, checkpoints and the history of runs, in SQLite.
///
/// 1. `open` checks the file; a damaged one is set aside, and an empty one is made in its place.
/// 2. Calls that write at the same time share one transaction: the first to get the actor commits
///    for all. Each returns after its commit, also in a cancelled task.
/// 3. Every row is checked when it is read; one that is not as it was written is an error.
///
/// SQLite blocks, so the actor has a queue of its own. The caller holds the directory's lock.
///
/// Not guaranteed: that a commit survives a power cut, unless `makeDurable` has returned. A row
/// that is lost costs the next run a comparison.
package actor ManifestStore {
    private enum State {
        case open(Connection)
        /// Nothing more is read from or written to a file that is known to be damaged.
        case damaged(ManifestError)
        case closed
    }

    nonisolated let queue: ManifestQueue
    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        unsafe queue.asUnownedSerialExecutor()
    }

    nonisolated let files: ManifestFiles
    nonisolated let pending = PendingWrites()
    /// Entries below this size are not found by size, tag or inode.
    let smallestSearchable: Int64
    private var state = State.closed
    var numbering = RunNumbering.none
    /// See ``goOnUnnumbered()``.
    var goesOnUnnumbered = false
    /// True if nothing may be written, not even that damage was found.
    var isOnlyLooking = false
    /// Asked before each transaction.
    private var check: (@Sendable () throws(ManifestError) -> Void)?
    /// What the files were when they were opened to be looked at.
    var lookedAt: [Int64] = []

    /// How many transactions were committed since the store was opened.
    package private(set) var transactionCount = 0

    init(files: ManifestFiles, threads: BlockingThreads, smallestSearchable: Int64) {
        queue = ManifestQueue(threads)
        self.files = files
        self.smallestSearchable = smallestSearchable
    }

    /// Asks `check` before each transaction whether it may be written.
    package func ask(_ check: @escaping @Sendable () throws(ManifestError) -> Void) {
        self.check = check
    }

    func begin(_ connection: sending Connection) { state = .open(connection) }

    /// Runs `body` with the connection, and remembers damage that it finds: the next opening sets
    /// the file aside.
    func withConnection<Result>(
        _ body: (Connection) throws(ManifestError) -> Result
    ) throws(ManifestError) -> Result {
        switch state {
        case .closed: throw .closed
        case .damaged(let error): throw error
        case .open(let connection):
            do {
                return try body(connection)
            } catch {
                guard error.isDamage else { throw error }
                if isOnlyLooking, (try? files.stamp()) != lookedAt {
                    // A run has begun meanwhile, and writes what is being read.
                    throw .inUse(path: files.databasePath)
                }
                markDamaged(error, connection)
                throw error
            }
        }
    }

    private func markDamaged(_ error: ManifestError, _ connection: Connection) {
        // Neither must fail the call once more: the error that is thrown says what happened, and
        // the next opening looks for damage itself.
        try? connection.leavesLogOnClose(true)
        if !isOnlyLooking { try? files.markDamaged() }
        state = .damaged(error)
    }

    func transaction<Result>(
        _ body: (Connection) throws(ManifestError) -> Result
    ) throws(ManifestError) -> Result {
        try check?()
        let result = try withConnection { connection throws(ManifestError) in
            try connection.transaction { () throws(ManifestError) in try body(connection) }
        }
        transactionCount += 1
        return result
    }

    /// Moves the log into the main file and closes; later calls throw ``ManifestError/closed``.
    ///
    /// - Throws: ``ManifestError`` if the disk refused; it is closed all the same, and what was
    ///   committed is in the log then.
    package func checkpointAndClose() throws(ManifestError) {
        guard case .open(let connection) = state else { return }
        state = .closed
        try connection.emptyLog()
    }

    /// Waits until the disk has every commit so far.
    ///
    /// For facts that a power cut must not lose and of which there is no other trace on disk,
    /// such as an upload that the service is about to begin.
    package func makeDurable() throws(ManifestError) {
        try check?()
        try withConnection { connection throws(ManifestError) in
            try connection.commitDurably()
        }
        transactionCount += 1
    }
}

// MARK: - Opening

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
            ManifestOpening(
                files: ManifestFiles(directory: directory, hasLocks: hasLocks),
                schema: .current,
                usesWriteAheadLog: usesWriteAheadLog
            ),
            now: now,
            threads: threads,
            smallestSearchable: smallestSearchable
        )
    }

    static func open(
        _ opening: ManifestOpening,
        now: Timestamp,
        threads: BlockingThreads,
        smallestSearchable: Int64
    ) async throws(ManifestError) -> (store: ManifestStore, outcome: OpenOutcome) {
        let directory = opening.files.directory
        guard !directory.utf8.contains(0) else {
            throw .unusable(path: directory, reason: "the path has a NUL byte")
        }
        let store = ManifestStore(
            files: opening.files,
            threads: threads,
            smallestSearchable: smallestSearchable
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

// MARK: - Writing

extension ManifestStore {
    /// Makes all of `changes` or none: hands in one call and returns when its transaction is
    /// committed.
    ///
    /// - Throws: ``ManifestError/checkpointGone(_:)`` for progress of a download or an upload that
    ///   the key has no longer: what comes late of one version must not count for the next.
    package nonisolated func record(_ changes: [ManifestChange]) async throws(ManifestError) {
        guard !changes.isEmpty else { return }
        var steps: [WriteStep] = []
        steps.reserveCapacity(changes.count)
        for change in changes {
            try steps.append(change, smallestSearchable: smallestSearchable)
        }
        let call = PendingCall(steps)
        pending.append(call)
        while true {
            // Another call may have taken this one into its own transaction already.
            if let result = call.result { return try result.get() }
            await commitPending()
        }
    }

    package nonisolated func record(_ change: ManifestChange) async throws(ManifestError) {
        try await record([change])
    }

    /// The number of calls that wait for a transaction.
    nonisolated var waitingCallCount: Int { pending.count }

    private func commitPending() {
        let group = pending.take(rowLimit: ManifestLimits.rowsPerTransaction)
        guard !group.isEmpty else { return }
        var results: [Result<Void, ManifestError>] = []
        do throws(ManifestError) {
            let number = group.contains { $0.changesEntries } ? try beginNumber() : nil
            try transaction { connection throws(ManifestError) in
                if let number { try connection.set(currentNumber(number)) }
                for call in group { results.append(try apply(call, to: connection)) }
            }
            if number != nil { numbering = numbering.settled }
        } catch {
            results = group.map { _ in .failure(error) }
        }
        for (call, result) in zip(group, results) { call.finish(result) }
    }

    /// All steps of one call, or none if it is refused; throws what ends the whole transaction.
    private func apply(
        _ call: PendingCall,
        to connection: Connection
    ) throws(ManifestError) -> Result<Void, ManifestError> {
        try connection.run(.beginCall)
        do {
            for step in call.steps { try connection.apply(step) }
            try connection.run(.endCall)
            return .success(())
        } catch {
            guard error.concernsOneCall else { throw error }
            try connection.run(.undoCall)
            try connection.run(.endCall)
            return .failure(error)
        }
    }
}

extension Connection {
    fileprivate func apply(_ step: WriteStep) throws(ManifestError) {
        switch step {
        case .upsert(let table, let values): try upsert(values, into: table)
        case .run(let query, let values): try run(query, values)
        case .addItems(let items, let id): try add(items, to: id)
        case .perform(let body): try body(self)
        }
    }
}
