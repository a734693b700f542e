internal import SyncEngine

extension DirectoryMirror {
    /// What is known of one path, and what each direction would do with it; changes nothing.
    ///
    /// Makes one request for the object. What follows from other keys is not considered.
    ///
    /// - Parameters:
    ///   - path: The path beneath the directory; "/" at its end means a directory.
    ///   - directions: The options of each direction.
    /// - Returns: What was found.
    /// - Throws: `SyncError`; `configuration` for a path that exists nowhere.
    public func explain(
        path: String,
        of directions: [SyncDirection: RunOptions]
    ) async throws(SyncError) -> Explanation {
        try await inspecting(connectionLimit: 1).explain(path: path, of: directions)
    }

    /// Deletes partial files and aborts multipart uploads, of one path or of all.
    ///
    /// - Throws: `SyncError`; `configuration` for a path that is neither here nor in the manifest.
    public func cancelTransfers(path: String?) async throws(SyncError) -> CancelReport {
        try await inspecting(connectionLimit: 1).cancelTransfers(path: path)
    }

    /// The latest runs that the manifest recorded, the last one first; at most 1,000 are kept.
    ///
    /// - Throws: `SyncError`.
    public func pastRuns(limit: Int) async throws(SyncError) -> [PastRun] {
        try await inspecting(connectionLimit: 1).pastRuns(limit: limit)
    }

    /// The largest files that the manifest records, the largest first; reads all of it.
    ///
    /// - Parameter count: How many.
    /// - Returns: Their keys, safe to print, and sizes in bytes.
    /// - Throws: `SyncError`.
    public func largestFiles(_ count: Int) async throws(SyncError) -> [(key: String, size: Int64)] {
        try await inspecting(connectionLimit: 1).largestFiles(count)
    }

    /// When the last complete run of each direction ended, and the active run.
    func history() async throws(SyncError) -> (
        lastSuccess: [SyncDirection: StoreTime], running: PastRun?
    ) {
        try await inspecting(connectionLimit: 1).history()
    }

    /// Hands the items that a run recorded to `onItem`, until `onItem` returns false.
    ///
    /// Those of the last 20 runs are kept, at most 5,000 of each.
    ///
    /// - Parameters:
    ///   - number: The run's number.
    ///   - onItem: Called with each item.
    /// - Returns: The run; nil if there is no record of it.
    /// - Throws: `SyncError`.
    public func pastItems(
        ofRun number: Int64,
        onItem: (PastItem) -> Bool
    ) async throws(SyncError) -> PastRun? {
        try await inspecting(connectionLimit: 1).pastItems(ofRun: number, onItem: onItem)
    }
}
