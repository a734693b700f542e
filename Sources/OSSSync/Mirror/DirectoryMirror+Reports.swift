internal import SyncEngine
internal import SyncModel

/// What is known of a mirror; nothing is changed but by a repair.
extension DirectoryMirror {
    /// Counts what a pull, a push and a sync would do, and names what was interrupted; changes
    /// nothing.
    ///
    /// The options' paths limit it as they limit a run.
    ///
    /// - Throws: `TransferError`; `configuration` for a path that exists nowhere.
    public func status(options: RunOptions) async throws(TransferError) -> StatusReport {
        try await status(options: options, of: [:])
    }

    /// The same for directions that have options of their own; their filters do not count.
    ///
    /// - Parameters:
    ///   - options: The options of all directions without their own, and the filter.
    ///   - directions: The options of single directions.
    ///   - onDetail: Called with each item that a direction would not leave as it is, in the order
    ///     of the keys of each direction.
    /// - Returns: The counts.
    /// - Throws: `TransferError`.
    package func status(
        options: RunOptions,
        of directions: [SyncDirection: RunOptions],
        onDetail: (@Sendable (StatusDetail) -> Void)? = nil
    ) async throws(TransferError) -> StatusReport {
        var trash = TrashReport()
        var warnings: [String] = []
        do throws(TransferError) {
            if let found = try await local.trash.size() { trash = found }
        } catch {
            guard error.code != .cancelled else { throw error }
            warnings = [error.message]
        }
        var report = try await inspecting(connectionLimit: options.connectionLimit)
            .status(options: options, of: directions, onDetail: onDetail)
        report.trash = trash
        report.warnings += warnings
        return report
    }

    /// What is known of one path, and what each direction would do with it; changes nothing.
    ///
    /// Makes one request for the object. What follows from other keys is not considered.
    ///
    /// - Parameters:
    ///   - path: The path beneath the directory; "/" at its end means a directory.
    ///   - directions: The options of each direction.
    /// - Returns: What was found.
    /// - Throws: `TransferError`; `configuration` for a path that exists nowhere.
    package func explain(
        path: String,
        of directions: [SyncDirection: RunOptions]
    ) async throws(TransferError) -> Explanation {
        try await inspecting(connectionLimit: 1).explain(path: path, of: directions)
    }

    /// Deletes partial files and aborts multipart uploads, of one path or of all.
    ///
    /// - Throws: `TransferError`; `configuration` for a path that is neither here nor in the
    ///   manifest.
    package func cancelTransfers(path: String?) async throws(TransferError) -> CancelReport {
        try await inspecting(connectionLimit: 1).cancelTransfers(path: path)
    }

    /// What the manifest recorded of earlier runs; no password is needed.
    package func history() throws(TransferError) -> RunHistory {
        try inspecting(connectionLimit: 1, readsPassword: false).history
    }

    /// Throws what would refuse a run: the remote is not that of the last one.
    func checkRemote() async throws(TransferError) {
        try await inspecting(connectionLimit: 1).checkRemote()
    }

    /// Reads recorded files and compares their content with the manifest.
    ///
    /// Downloads nothing but what it is to repair. Damaged files are compared by their content in
    /// later runs, too, and not uploaded without force. Cancelling the task ends it between two
    /// files.
    ///
    /// - Parameters:
    ///   - options: What is verified.
    ///   - onFinding: Called with each file or object that is not as recorded.
    ///   - onProgress: Called at most five times a second, after a file was read.
    /// - Returns: What was found.
    /// - Throws: `TransferError`; `locked` while another run is active, `configuration` for a path
    ///   that is neither here nor in the manifest.
    public func verify(
        _ options: VerifyOptions,
        onFinding: @escaping @Sendable (VerifyFinding) -> Void,
        onProgress: (@Sendable (RunProgress) -> Void)? = nil
    ) async throws(TransferError) -> VerifyReport {
        try await inspecting(connectionLimit: RunOptions.standard.connectionLimit)
            .verify(options, onFinding: onFinding, onProgress: onProgress)
    }

    /// Removes local copies of what the bucket has at that moment, and remembers that they are only
    /// there: no run takes them for deleted, and none fetches them but a pull or sync of their
    /// paths.
    ///
    /// What the bucket is not shown to have as it is here stays.
    ///
    /// - Parameters:
    ///   - options: What is freed.
    ///   - onFile: Called with each file that was removed, and each that stays, with the reason.
    /// - Returns: How much was freed.
    /// - Throws: `TransferError`; `locked` while another run is active, `configuration` for a path
    ///   that exists nowhere or a mirror that is divided into shards.
    package func free(
        _ options: FreeOptions,
        onFile: @escaping @Sendable (FreedFile) -> Void
    ) async throws(TransferError) -> FreeReport {
        try await inspecting(connectionLimit: options.run.connectionLimit)
            .free(options, onFile: onFile)
    }

    /// A round over the shards, or the newest one.
    ///
    /// - Returns: Nil if there is none.
    /// - Throws: `TransferError` of code `localState` if what is recorded of it is damaged.
    package func round(_ name: String?) throws(TransferError) -> RoundReport? {
        try engine(connectionLimit: 1, asOf: nil).round(name)
    }

    /// The shards in key order, and what their last runs came to.
    ///
    /// - Returns: Nil if the mirror is not cut.
    /// - Throws: `TransferError` of code `localState` if what is recorded of them is damaged.
    package func shards() throws(TransferError) -> [ShardState]? {
        try engine(connectionLimit: 1, asOf: nil).shards()
    }
}
