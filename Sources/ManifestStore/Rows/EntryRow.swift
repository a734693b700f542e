internal import SyncModel

/// A row of the table `entry`.
enum EntryRow {
    /// `smallestSearchable` is the least size of what is looked up by content.
    static func values(of entry: ManifestEntry, smallestSearchable: Int64) -> [SQLValue] {
        var values: [SQLValue] = []
        values.reserveCapacity(20)
        values.append(entry.key)
        values.append(entry.size)
        values.append(entry.etag.text)
        values.append(entry.crc64)
        values.append(entry.lastModified)
        values.append(entry.storageClass.name)
        values.append(entry.localModified)
        values.append(bits: entry.inode)
        values.append(entry.isThroughLink ? .integer(1) : .null)
        values.append(entry.isLink ? .integer(1) : .null)
        values.append(entry.changed)
        values.append(entry.mode.map { Int64($0) })
        values.append(entry.isDamaged ? .integer(1) : .null)
        values = RowDigest.sealing(values, table: .entry, additions: 5)
        values.append(.integer(isSample(entry.key) ? 1 : 0))
        values.append(entry.size >= smallestSearchable ? .integer(1) : .null)
        return values
    }

    /// One key of 256, chosen by its own bytes: the same one whenever it is recorded, and without
    /// regard to order, so that the sample shows how keys are distributed.
    static func isSample(_ key: ObjectKey) -> Bool {
        CRC64(of: key.bytes).value & 0xFF == 0
    }

    static func check(_ entry: ManifestEntry) throws(ManifestError) {
        try Requirement.key(entry.key)
        try Requirement.notNegative(entry.size, "an entry's size")
        try Requirement.length(entry.etag.text, "an ETag", limit: ManifestLimits.etag)
        try Requirement.length(
            entry.storageClass.name,
            "a storage class",
            limit: ManifestLimits.storageClass
        )
        try Requirement.notNegative(entry.changed, "an entry's change time")
    }

    static func read(_ statement: PreparedStatement) throws(ManifestError) -> ManifestEntry {
        var row = RowReader(statement, table: .entry)
        let entry = ManifestEntry(
            key: try row.key(limit: ManifestLimits.key),
            size: try row.count("its size"),
            etag: ETag(stored: try row.text("its ETag", limit: ManifestLimits.etag)),
            crc64: try row.checksum("its CRC-64"),
            lastModified: try row.optionalTimestamp("its time of the last modification"),
            storageClass: StorageClass(
                name: try row.text("its storage class", limit: ManifestLimits.storageClass)
            ),
            localModified: try row.timestamp("its file's modification time"),
            inode: try row.bits("its inode"),
            isThroughLink: try row.addedMark("its mark of a link object"),
            isLink: try row.addedMark("its mark of a symbolic link"),
            changed: try row.addedCount("its file's change time"),
            mode: try row.addedPermissions("its permissions"),
            isDamaged: try row.addedMark("its mark of damage")
        )
        try row.finish()
        return entry
    }
}
