internal import SyncModel

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
