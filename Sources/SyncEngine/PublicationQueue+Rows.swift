internal import LocalStorage
internal import ManifestStore
internal import SyncModel

extension PublicationQueue {
    /// How many rows wait for one synchronization.
    private static let rowsPerSync = 4_096
    /// For how many intervals of publication they wait at most.
    ///
    /// What a kill keeps from being recorded is another's object to the next run if the user
    /// changes the file before it.
    private static let intervalsPerSync = 2

    /// What the manifest is to learn of a file that the user made, once the disk has it.
    struct Row: Sendable {
        let changes: [ManifestChange]
        let key: ObjectKey
        let action: ItemAction
        /// The number of the file's file system; nil where the row is of no file.
        let device: UInt64?
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
        // Whoever goes on after this relies on those that another was about to record.
        await beginTurn()
        defer { endTurn() }
        intervals = 0
        guard !rows.isEmpty else { return }
        let rows = rows
        self.rows = []
        do {
            let directory = context.directory
            // Of other file systems beneath the directory nothing else waits for anything.
            let elsewhere = rows.filter { $0.device.map { $0 != directory.device } ?? false }
            for row in elsewhere {
                guard let path = try? RelativePath(key: row.key) else { continue }
                try await queue.run { () throws(LocalError) in try directory.synchronize(path) }
            }
            try await recordDurably(rows.flatMap(\.changes))
        } catch {
            let failure = ItemFailure(any: error)
            for row in rows { onFailure(row.key, row.action, failure) }
        }
    }
}
