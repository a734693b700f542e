internal import SyncModel

/// A row of the table `comparison`.
enum ComparisonRow {
    static func values(of content: FetchedContent) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(content.key)
        values.append(content.size)
        values.append(content.etag.text)
        values.append(content.crc64)
        return RowDigest.sealing(values, table: .comparison)
    }

    static func check(_ content: FetchedContent) throws(ManifestError) {
        try Requirement.key(content.key)
        try Requirement.notNegative(content.size, "an object's size")
        try Requirement.length(content.etag.text, "an ETag", limit: ManifestLimits.etag)
    }

    static func read(_ statement: PreparedStatement) throws(ManifestError) -> FetchedContent {
        var row = RowReader(statement, table: .comparison)
        let content = FetchedContent(
            key: try row.key(limit: ManifestLimits.key),
            size: try row.count("its size"),
            etag: ETag(stored: try row.text("its ETag", limit: ManifestLimits.etag)),
            crc64: CRC64(value: try row.bits("its CRC-64"))
        )
        try row.finish()
        return content
    }
}
