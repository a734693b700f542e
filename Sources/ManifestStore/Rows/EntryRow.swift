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
        let marks = Marks(of: entry)
        values.append(marks.isEmpty ? .null : .integer(marks.rawValue))
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

    /// The bits of the column `is_link`.
    private struct Marks: OptionSet {
        static let isLink = Marks(rawValue: 1)
        static let isLeftOut = Marks(rawValue: 2)
        static let isFetched = Marks(rawValue: 4)
        static let all: Marks = [.isLink, .isLeftOut, .isFetched]

        var rawValue: Int64 = 0

        init(rawValue: Int64 = 0) { self.rawValue = rawValue }

        init(of entry: ManifestEntry) {
            if entry.isLink { insert(.isLink) }
            if entry.isLeftOut { insert(.isLeftOut) }
            if entry.isFetched { insert(.isFetched) }
        }

        /// Reads the column, which rows of earlier versions do not have.
        mutating func read(_ row: inout RowReader) throws(ManifestError) -> Marks {
            self = Marks(rawValue: try row.addedCount("its marks") ?? 0)
            guard isSubset(of: .all) else { throw row.failure("its marks are \(rawValue)") }
            return self
        }
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
        var marks = Marks()
        var entry = ManifestEntry(
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
            isLink: try marks.read(&row).contains(.isLink),
            changed: try row.addedCount("its file's change time"),
            mode: try row.addedPermissions("its permissions"),
            isDamaged: try row.addedMark("its mark of damage")
        )
        try row.finish()
        entry.isLeftOut = marks.contains(.isLeftOut)
        entry.isFetched = marks.contains(.isFetched)
        return entry
    }
}
