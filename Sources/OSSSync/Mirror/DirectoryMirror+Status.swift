internal import SyncEngine
internal import SyncModel

extension DirectoryMirror {
    /// Counts what a pull, a push and a sync would do, and names what was interrupted; changes
    /// nothing.
    ///
    /// The options' paths limit it as they limit a run.
    ///
    /// - Throws: `SyncError`; `configuration` for a path that exists nowhere.
    public func status(options: RunOptions) async throws(SyncError) -> StatusReport {
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
    /// - Throws: `SyncError`.
    public func status(
        options: RunOptions,
        of directions: [SyncDirection: RunOptions],
        onDetail: (@Sendable (StatusDetail) -> Void)? = nil
    ) async throws(SyncError) -> StatusReport {
        var trash = TrashReport()
        var warnings: [String] = []
        do throws(SyncError) {
            if let found = try await localMirror.trash() { trash = found }
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
}
