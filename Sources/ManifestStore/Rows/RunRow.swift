internal import SyncModel

/// Rows of the tables `run` and `run_item`.
enum RunRow {
    static let directions: Set<String> = ["pull", "push", "sync"]

    static func values(of run: StoredRun) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(run.id.value)
        values.append(run.direction)
        values.append(run.started)
        values.append(run.remote)
        values += recordValues(of: run.record)
        values.append(run.paths?.cut(toBytes: ManifestLimits.message))
        return RowDigest.sealing(values, table: .run)
    }

    /// The columns that a run has only when it has ended.
    static func recordValues(of record: RunRecord?) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(record?.outcome.rawValue)
        values.append(record.map { .real($0.seconds) } ?? .null)
        for count in counts { values.append(record?.counts[keyPath: count]) }
        values.append(record?.message?.cut(toBytes: ManifestLimits.message))
        return values
    }

    /// In the order of the columns.
    private static var counts: [WritableKeyPath<RunCounts, Int64>] {
        [
            \.transferred, \.transferredBytes, \.resumedBytes, \.deleted, \.renamed, \.adopted,
            \.unchanged, \.conflicts, \.failed, \.skipped, \.localChanges, \.requests, \.vanished,
        ]
    }

    static func check(direction: String, remote: String) throws(ManifestError) {
        guard directions.contains(direction) else {
            let name = displayText(direction.utf8).cut(toBytes: 100)
            throw .invalidValue("'\(name)' is not a direction")
        }
        try Requirement.length(remote, "a remote", limit: ManifestLimits.remote)
    }

    static func check(_ record: RunRecord) throws(ManifestError) {
        guard record.seconds.isFinite, record.seconds >= 0 else {
            throw .invalidValue("a run took \(record.seconds) seconds")
        }
        for count in counts {
            try Requirement.notNegative(record.counts[keyPath: count], "a run's count")
        }
    }

    static func read(_ statement: PreparedStatement) throws(ManifestError) -> StoredRun {
        var row = RowReader(statement, table: .run)
        let id = try row.count("its number")
        row.rename(String(id))
        let direction = try row.text("its direction", limit: ManifestLimits.word)
        guard directions.contains(direction) else {
            throw row.failure("its direction is '\(displayText(direction.utf8))'")
        }
        let started = try row.timestamp("its start")
        let remote = try row.text("its remote", limit: ManifestLimits.remote)
        let record = try readRecord(&row)
        let paths = try row.optionalText("its paths", limit: ManifestLimits.message)
        try row.finish()
        return StoredRun(
            id: RunID(id),
            direction: direction,
            started: started,
            remote: remote,
            paths: paths,
            record: record
        )
    }

    private static func readRecord(_ row: inout RowReader) throws(ManifestError) -> RunRecord? {
        let name = try row.optionalText("its outcome", limit: ManifestLimits.word)
        let seconds = try row.optionalReal("its duration")
        var result = RunCounts()
        var isCounted = true
        for count in counts {
            guard let number = try row.optionalInteger("a count") else {
                isCounted = false
                continue
            }
            guard number >= 0 else { throw row.failure("a count is \(number)") }
            result[keyPath: count] = number
        }
        let message = try row.optionalText("its message", limit: ManifestLimits.message)
        guard let name else { return nil }
        guard let outcome = RunOutcome(rawValue: name) else {
            throw row.failure("its outcome is '\(displayText(name.utf8))'")
        }
        guard let seconds, seconds >= 0, isCounted else {
            throw row.failure("its end is incomplete")
        }
        return RunRecord(outcome: outcome, seconds: seconds, counts: result, message: message)
    }
}

/// A row of the table `run_item`.
enum RunItemRow {
    static func values(of item: RunItem, run: RunID, number: Int64) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(run.value)
        values.append(number)
        values.append(item.key)
        values.append(item.action)
        values.append(item.state)
        values.append(item.message?.cut(toBytes: ManifestLimits.message))
        return RowDigest.sealing(values, table: .runItem)
    }

    static func check(_ item: RunItem) throws(ManifestError) {
        try Requirement.key(item.key, limit: ManifestLimits.path)
        try Requirement.word(item.action, "an action")
        try Requirement.word(item.state, "a state")
    }

    static func read(_ statement: PreparedStatement) throws(ManifestError) -> StoredRunItem {
        var row = RowReader(statement, table: .runItem)
        _ = try row.count("its run")
        let number = try row.count("its number")
        let item = RunItem(
            key: try row.key(limit: ManifestLimits.path),
            action: try row.text("its action", limit: ManifestLimits.word),
            state: try row.text("its state", limit: ManifestLimits.word),
            message: try row.optionalText("its message", limit: ManifestLimits.message)
        )
        try row.finish()
        return StoredRunItem(number: number, item: item)
    }
}
