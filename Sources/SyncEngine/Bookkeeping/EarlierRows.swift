internal import ManifestStore
internal import SyncModel

/// Whether the manifest had anything to look up when a run began.
///
/// Ten thousand questions to an empty table cost as much as the files of a first run themselves.
struct EarlierRows: Sendable {
    /// True if a file or an object was recorded.
    let hasEntries: Bool
    /// True if a transfer was interrupted.
    let hasTransfers: Bool
    /// When the run before ended; nil if it was killed, or there was none.
    let lastEnd: Timestamp?

    /// Where nobody has looked.
    static let perhaps = EarlierRows(
        hasEntries: true,
        hasTransfers: true,
        lastEnd: nil
    )
}

extension EarlierRows {
    /// To be read once this run has its number.
    init(_ manifest: ManifestStore) async throws(ManifestError) {
        hasEntries = try await manifest.first(.entries(in: .all)) != nil
        let download = try await manifest.first(.downloads)
        let upload = try await manifest.first(.uploads)
        hasTransfers = download != nil || upload != nil
        let last = try await manifest.rows(.runs, limit: 2).dropFirst().first
        lastEnd = last.flatMap { run in
            run.record.map { run.started - .seconds(-$0.seconds) }
        }
    }
}
