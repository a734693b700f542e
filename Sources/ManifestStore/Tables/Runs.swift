package import SyncModel

extension StoredRun: Row {
    static var table: Table { .run }

    private static let directions: Set<String> = ["pull", "push", "sync"]

    static func code(_ run: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        let id = try columns.count(run?.id.value, "its number")
        columns.rename([UInt8](String(id).utf8))
        let direction = try columns.text(
            run?.direction,
            "its direction",
            limit: ManifestLimits.word
        )
        guard directions.contains(direction) else {
            throw columns.failure("its direction is '\(displayText(direction.utf8))'")
        }
        let started = try columns.timestamp(run?.started, "its start")
        let remote = try columns.text(run?.remote, "its remote", limit: ManifestLimits.remote)
        let record = try codeEnd(run?.record, &columns)
        let limit = ManifestLimits.message
        let paths = run?.paths?.cut(toBytes: limit)
        return StoredRun(
            id: RunID(id),
            direction: direction,
            started: started,
            remote: remote,
            paths: try columns.optionalText(paths, "its paths", limit: limit),
            record: record
        )
    }

    /// The columns that a run has only when it has ended.
    private static func codeEnd(
        _ record: RunRecord?,
        _ columns: inout RowCoder
    ) throws(ManifestError) -> RunRecord? {
        let name = try columns.optionalText(
            record?.outcome.rawValue,
            "its outcome",
            limit: ManifestLimits.word
        )
        let seconds = try columns.optionalReal(record?.seconds, "its duration")
        var counts: [RunCount: Int64] = [:]
        for count in RunCount.allCases {
            let number = try columns.optionalInteger(record?.counts[count], "a count")
            guard number ?? 0 >= 0 else { throw columns.failure("a count is \(number ?? 0)") }
            counts[count] = number
        }
        let limit = ManifestLimits.message
        let message = try columns.optionalText(
            record?.message?.cut(toBytes: limit),
            "its message",
            limit: limit
        )
        guard let name else { return nil }
        guard let outcome = RunOutcome(rawValue: name) else {
            throw columns.failure("its outcome is '\(displayText(name.utf8))'")
        }
        guard let seconds, seconds >= 0, counts.count == RunCount.allCases.count else {
            throw columns.failure("its end is incomplete")
        }
        return RunRecord(outcome: outcome, seconds: seconds, counts: counts, message: message)
    }
}

struct RunItemRow: Row {
    static var table: Table { .runItem }

    let run: Int64
    let number: Int64
    let item: RunItem

    static func code(_ row: Self?, _ columns: inout RowCoder) throws(ManifestError) -> Self {
        let item = row?.item
        let limit = ManifestLimits.message
        return RunItemRow(
            run: try columns.count(row?.run, "its run"),
            number: try columns.count(row?.number, "its number"),
            item: RunItem(
                key: try columns.key(item?.key, limit: ManifestLimits.path),
                action: try columns.word(item?.action, "its action"),
                state: try columns.word(item?.state, "its state"),
                message: try columns.optionalText(
                    item?.message?.cut(toBytes: limit),
                    "its message",
                    limit: limit
                )
            )
        )
    }
}

extension RowSelection<StoredRun> {
    /// The runs, the last one first.
    package static var runs: Self {
        Self(
            .selectRuns,
            [],
            from: nil,
            after: { .integer($0.id.value) },
            { connection, query, values throws(ManifestError) in
                try connection.rows(query, values)
            }
        )
    }
}

extension RowSelection<StoredRunItem> {
    /// What a run recorded, in order.
    package static func items(run: RunID) -> Self {
        Self(
            .selectItems,
            [.integer(run.value)],
            from: .integer(0),
            after: { .integer($0.number + 1) },
            { connection, query, values throws(ManifestError) in
                let rows: [RunItemRow] = try connection.rows(query, values)
                return rows.map { StoredRunItem(number: $0.number, item: $0.item) }
            }
        )
    }
}

extension Connection {
    /// Adds items to a run, and gives each the next number.
    func add(_ items: [RunItem], to run: RunID) throws(ManifestError) {
        var number = Int64(try count(.selectLastItemNumber, [.integer(run.value)]))
        for item in items {
            number += 1
            try upsert(RunItemRow(run: run.value, number: number, item: item))
        }
    }
}

extension ManifestStore {
    /// Begins a run, limited to `paths` if there are any, and gives it the next number, which is
    /// never used again.
    ///
    /// Drops runs beyond the last 1,000, and items of runs beyond the last 20 that have any.
    package func beginRun(
        direction: String,
        started: Timestamp,
        remote: String,
        paths: String? = nil
    ) throws(ManifestError) -> RunID {
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
            try connection.upsert(run)
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
    ///
    /// A mirror that is looked at every few minutes has many runs without one.
    private static func dropItems(
        before id: RunID,
        _ connection: Connection
    ) throws(ManifestError) -> Bool {
        var last = id.value
        for _ in 0...ManifestLimits.runsWithItems where last > 0 {
            last = Int64(try connection.count(.selectLastRunWithItems, [.integer(last)]))
        }
        guard last > 0 else { return false }
        let batch = ManifestLimits.rowsPerTransaction
        try connection.run(.deleteItemsThrough, [.integer(last), .integer(Int64(batch))])
        return connection.changeCount >= batch
    }

    /// Keys of recorded items that may be copies which conflicts have made, in order.
    package func conflictCopies(limit: Int) throws(ManifestError) -> [ObjectKey] {
        try withConnection { connection throws(ManifestError) in
            var keys: Set<ObjectKey> = []
            let values = [SQLValue.integer(Int64(limit))]
            try connection.forEachRow(.selectConflictCopies, values) { row throws(ManifestError) in
                if case .blob(let bytes) = row.value(at: 0) { keys.insert(ObjectKey(bytes)) }
            }
            return keys.sorted()
        }
    }

    /// Records how the run ended.
    package func finishRun(_ id: RunID, _ record: RunRecord) throws(ManifestError) {
        try transaction { connection throws(ManifestError) in
            let found: StoredRun? = try connection.row(.selectRun, [.integer(id.value)])
            guard var run = found else { throw .rejected("there is no run \(id.value)") }
            run.record = record
            try connection.upsert(run)
        }
    }
}
