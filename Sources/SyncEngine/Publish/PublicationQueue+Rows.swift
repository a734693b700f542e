internal import LocalStorage
internal import ManifestStore
internal import ObjectTransfer
internal import SyncModel

extension PublicationQueue {
    /// How many rows wait for one synchronization.
    private static let rowsPerSync = 4_096
    /// For how many intervals of publication they wait at most.
    ///
    /// What a kill keeps from being recorded is another's object to the next run if the user
    /// changes the file before it.
    private static let intervalsPerSync = 2

    /// A manifest row to write once the user's file is durable.
    struct Row: Sendable {
        let changes: [ManifestChange]
        let key: ObjectKey
        let action: ItemAction
        /// The number of the file's file system; nil where the row is of no file.
        let device: UInt64?
    }

    /// Records what both sides have in common, once a power cut cannot take it from this one.
    ///
    /// The program that wrote the file need not have synced it. After a power cut that kept the row
    /// but not the file, the next run would treat the loss as the user's deletion and delete the
    /// object.
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
        // The caller relies on rows that another task was about to record.
        await beginTurn()
        defer { endTurn() }
        intervals = 0
        guard !rows.isEmpty else { return }
        let rows = rows
        self.rows = []
        let failures = await synchronizeOthers(rows)
        var sound = rows
        if !failures.isEmpty {
            sound = rows.filter { row in
                guard let failure = row.device.flatMap({ failures[$0] }) else { return true }
                onFailure(row.key, row.action, 0, failure)
                return false
            }
        }
        do {
            try await recordDurably(sound.flatMap(\.changes))
        } catch {
            let failure = ItemFailure(any: error)
            for row in sound { onFailure(row.key, row.action, 0, failure) }
        }
    }

    /// Makes other disks beneath the directory hold their files, for which nothing else waits.
    ///
    /// The result is why that failed, by their numbers.
    private func synchronizeOthers(_ rows: [Row]) async -> [UInt64: ItemFailure] {
        let directory = context.directory
        var settled: Set<UInt64> = [directory.disk.device]
        var failures: [UInt64: ItemFailure] = [:]
        for row in rows {
            guard let device = row.device, !settled.contains(device),
                let path = try? context.path(of: row.key)
            else { continue }
            do {
                let isDone = try await queue.run { () throws(LocalError) in
                    try directory.synchronize(device, by: path)
                }
                if isDone { settled.insert(device) }
            } catch {
                settled.insert(device)
                failures[device] = ItemFailure(any: error)
            }
        }
        return failures
    }
}
