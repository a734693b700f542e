internal import SyncModel

/// A row of the table `planned_deletion`.
enum DeletionRow {
    static func values(of deletion: PlannedDeletion, run: RunID) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(run.value)
        values.append(deletion.side.rawValue)
        values.append(deletion.key)
        values.append(deletion.size)
        values.append(deletion.etag?.text)
        values.append(deletion.identity)
        return RowDigest.sealing(values, table: .plannedDeletion)
    }

    static func check(_ deletion: PlannedDeletion) throws(ManifestError) {
        try Requirement.key(deletion.key, limit: ManifestLimits.path)
        try Requirement.notNegative(deletion.size, "a deletion's size")
        try Requirement.notNegative(deletion.identity?.size, "a file's size")
        try Requirement.length(deletion.etag?.text, "an ETag", limit: ManifestLimits.etag)
    }

    static func read(_ statement: PreparedStatement) throws(ManifestError) -> PlannedDeletion {
        var row = RowReader(statement, table: .plannedDeletion)
        _ = try row.count("its run")
        let sideName = try row.text("its side", limit: ManifestLimits.word)
        let deletion = PlannedDeletion(
            key: try row.key(limit: ManifestLimits.path),
            side: try side(sideName, row),
            size: try row.count("its size"),
            etag: try row.optionalText("its ETag", limit: ManifestLimits.etag).map {
                ETag(stored: $0)
            },
            identity: try row.optionalIdentity("its file")
        )
        try row.finish()
        return deletion
    }

    private static func side(
        _ name: String,
        _ row: RowReader
    ) throws(ManifestError) -> DeletionSide {
        guard let side = DeletionSide(rawValue: name) else {
            throw row.failure("its side is '\(displayText(name.utf8))'")
        }
        return side
    }
}
