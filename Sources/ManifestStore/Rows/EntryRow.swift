internal import SyncModel

/// A row of the table `entry`.
enum EntryRow {
    /// `smallestSearchable` is the least size of what is looked up by content.
    static func values(of entry: ManifestEntry, smallestSearchable: Int64) -> [SQLValue] {
        var values: [SQLValue] = []
        values.reserveCapacity(16)
        values.append(entry.key)
        values.append(entry.size)
        values.append(entry.etag.text)
        values.append(entry.crc64)
        values.append(entry.lastModified)
        values.append(entry.storageClass.name)
        values.append(entry.localModified)
        values.append(bits: entry.inode)
        values.append(entry.changed)
        values.append(marks(of: entry))
        values = RowDigest.sealing(values, table: .entry)
        values.append(.integer(isSample(entry.key) ? 1 : 0))
        values.append(entry.size >= smallestSearchable ? .integer(1) : .null)
        return values
    }

    /// One key of 256, chosen by its own bytes: the same one whenever it is recorded, and without
    /// regard to order, so that the sample shows how keys are distributed.
    static func isSample(_ key: ObjectKey) -> Bool {
        CRC64(of: key.bytes).value & 0xFF == 0
    }

    /// The bits of the column `marks`; an index has the number of the one for damage.
    private enum Mark {
        static let throughLink: Int64 = 1
        static let link: Int64 = 2
        static let leftOut: Int64 = 4
        static let fetched: Int64 = 8
        static let damaged: Int64 = 16
        /// The permissions are known, and follow in nine bits.
        static let mode: Int64 = 32
        static let modeShift: Int64 = 6
        static let all: Int64 = 0o777 << modeShift | 63
    }

    private static func marks(of entry: ManifestEntry) -> Int64 {
        var marks = entry.mode.map { Int64($0 & 0o777) << Mark.modeShift | Mark.mode } ?? 0
        if entry.isThroughLink { marks |= Mark.throughLink }
        if entry.isLink { marks |= Mark.link }
        if entry.isLeftOut { marks |= Mark.leftOut }
        if entry.isFetched { marks |= Mark.fetched }
        if entry.isDamaged { marks |= Mark.damaged }
        return marks
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
        let key = try row.key(limit: ManifestLimits.key)
        let size = try row.count("its size")
        let etag = ETag(stored: try row.text("its ETag", limit: ManifestLimits.etag))
        let checksum = try row.checksum("its CRC-64")
        let lastModified = try row.optionalTimestamp("its time of the last modification")
        let storageClass = try row.text("its storage class", limit: ManifestLimits.storageClass)
        let localModified = try row.timestamp("its file's modification time")
        let inode = try row.bits("its inode")
        let changed = try row.optionalInteger("its file's change time")
        guard changed ?? 0 >= 0 else { throw row.failure("its file's change time is negative") }
        let marks = try row.integer("its marks")
        let hasMode = marks & Mark.mode != 0
        guard marks & ~Mark.all == 0, hasMode || marks >> Mark.modeShift == 0 else {
            throw row.failure("its marks are \(marks)")
        }
        try row.finish()
        var entry = ManifestEntry(
            key: key,
            size: size,
            etag: etag,
            crc64: checksum,
            lastModified: lastModified,
            storageClass: StorageClass(name: storageClass),
            localModified: localModified,
            inode: inode,
            isThroughLink: marks & Mark.throughLink != 0,
            isLink: marks & Mark.link != 0,
            changed: changed,
            mode: hasMode ? UInt32(marks >> Mark.modeShift) : nil,
            isDamaged: marks & Mark.damaged != 0
        )
        entry.isLeftOut = marks & Mark.leftOut != 0
        entry.isFetched = marks & Mark.fetched != 0
        return entry
    }
}
