package import SyncModel

extension ManifestStore {
    /// Begins a run, limited to `paths` if there are any, and gives it the next number, which is
    /// never used again.
    ///
    /// Drops runs beyond the last 1,000, and items of runs beyond the last 20.
    package func beginRun(
        direction: String,
        started: Timestamp,
        remote: String,
        paths: String? = nil
    ) throws(ManifestError) -> RunID {
        try RunRow.check(direction: direction, remote: remote)
        let (id, isBacklog) = try transaction { connection throws(ManifestError) in
            // The last run is never dropped, so its successor's number was never used.
            let last = try connection.count(.selectLastRunID)
            let run = StoredRun(
                id: RunID(Int64(last) + 1),
                direction: direction,
                started: started,
                remote: remote,
                paths: paths,
                record: nil
            )
            try connection.run(.insertRun, RunRow.values(of: run))
            let oldest = run.id.value - Int64(ManifestLimits.runs)
            try connection.run(.deleteRunsThrough, [.integer(oldest)])
            return (run.id, try Self.dropItems(before: run.id, connection))
        }
        guard isBacklog else { return id }
        // Earlier versions kept the items of all runs, which can be gigabytes.
        for _ in 1..<ManifestLimits.itemBatches {
            let isMore = try transaction { connection throws(ManifestError) in
                try Self.dropItems(before: id, connection)
            }
            guard isMore else { break }
        }
        return id
    }

    /// Drops a batch of the items that are too old; true if it was full.
    private static func dropItems(
        before id: RunID,
        _ connection: Connection
    ) throws(ManifestError) -> Bool {
        let last = id.value - Int64(ManifestLimits.runsWithItems)
        let batch = ManifestLimits.rowsPerTransaction
        try connection.run(.deleteItemsThrough, [.integer(last), .integer(Int64(batch))])
        return connection.changeCount >= batch
    }

    /// Records how the run ended.
    package func finishRun(_ id: RunID, _ record: RunRecord) throws(ManifestError) {
        try RunRow.check(record)
        try transaction { connection throws(ManifestError) in
            var found: StoredRun?
            try connection.forEachRow(.selectRun, [.integer(id.value)]) {
                statement throws(ManifestError) in
                found = try RunRow.read(statement)
            }
            guard let found else { throw .rejected("there is no run \(id.value)") }
            let finished = StoredRun(
                id: id,
                direction: found.direction,
                started: found.started,
                remote: found.remote,
                paths: found.paths,
                record: record
            )
            var values = RunRow.recordValues(of: record)
            values.append(RunRow.values(of: finished).last ?? .null)
            values.append(id.value)
            try connection.run(.finishRun, values)
        }
    }

    /// Adds items in their order.
    package nonisolated func recordItems(
        _ run: RunID,
        _ items: [RunItem]
    ) async throws(ManifestError) {
        for item in items { try RunItemRow.check(item) }
        try await write(items.map { .addItem($0, run) })
    }

    /// The latest runs, the last one first.
    package func runs(limit: Int) throws(ManifestError) -> [StoredRun] {
        try withConnection { connection throws(ManifestError) in
            var runs: [StoredRun] = []
            try connection.forEachRow(.selectRuns, [.integer(Int64(limit))]) {
                statement throws(ManifestError) in
                runs.append(try RunRow.read(statement))
            }
            return runs
        }
    }

    /// Up to `limit` items of a run, after the one with the number `after` (nil: from the first).
    package func items(
        run: RunID,
        after: Int64?,
        limit: Int
    ) throws(ManifestError) -> [StoredRunItem] {
        try withConnection { connection throws(ManifestError) in
            var items: [StoredRunItem] = []
            let values: [SQLValue] = [
                .integer(run.value), .integer(after ?? 0), .integer(Int64(limit)),
            ]
            try connection.forEachRow(.selectItems, values) { statement throws(ManifestError) in
                items.append(try RunItemRow.read(statement))
            }
            return items
        }
    }
}
