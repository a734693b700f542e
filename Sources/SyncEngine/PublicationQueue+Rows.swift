internal import LocalStorage
internal import ManifestStore
internal import SyncModel

extension PublicationQueue {
    /// How many rows wait for one synchronization.
    private static let rowsPerSync = 4_096
    /// For how many intervals of publication they wait at most.
    private static let intervalsPerSync = 10

    /// What the manifest is to learn of a file that the user made, once the disk has it.
    struct Row: Sendable {
        let changes: [ManifestChange]
        let key: ObjectKey
        let action: ItemAction
    }

    /// Records what both sides have in common, once a power cut cannot take it from this one.
    ///
    /// Whoever wrote the file need not have waited for the disk. With the row, and without the
    /// file, the next run would take what the power cut did for what the user did, and give it on
    /// to the object.
    func record(_ row: Row) async {
        rows.append(row)
        if rows.count >= Self.rowsPerSync { await recordRows() }
    }

    /// Records what waits since some intervals.
    func recordOldRows() async {
        intervals += 1
        if intervals >= Self.intervalsPerSync { await recordRows() }
    }

    func recordRows() async {
        intervals = 0
        guard !rows.isEmpty else { return }
        let rows = rows
        self.rows = []
        do {
            try await recordDurably(rows.flatMap(\.changes))
        } catch {
            let failure = ItemFailure(any: error)
            for row in rows { onFailure(row.key, row.action, failure) }
        }
    }
}
