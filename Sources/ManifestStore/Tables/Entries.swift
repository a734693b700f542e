package import SyncModel

extension ManifestEntry: Row {
    static var table: Table { .entry }

    static func code(
        _ entry: Self?,
        _ columns: inout RowCoder
    ) throws(ManifestError) -> Self {
        let key = try columns.key(entry?.key, limit: ManifestLimits.key)
        let size = try columns.count(entry?.size, "its size")
        let etag = try columns.etag(entry?.etag)
        let checksum = try columns.checksum(entry?.crc64)
        let lastModified = try columns.optionalTimestamp(
            entry?.lastModified,
            "its time of the last modification"
        )
        let storageClass = try columns.text(
            entry?.storageClass.name,
            "its storage class",
            limit: ManifestLimits.storageClass
        )
        let localModified = try columns.timestamp(
            entry?.localModified,
            "its file's modification time"
        )
        let inode = try columns.bits(entry?.inode, "its inode")
        let changed = try columns.optionalInteger(entry?.changed, "its file's change time")
        guard changed ?? 0 >= 0 else {
            throw columns.failure("its file's change time is negative")
        }
        let marks = try columns.integer(entry.map { Mark.all(of: $0) }, "its marks")
        let hasMode = marks & Mark.mode != 0
        guard marks & ~Mark.known == 0, hasMode || marks & Mark.modeBits == 0 else {
            throw columns.failure("its marks are \(marks)")
        }
        var result = ManifestEntry(
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
            mode: hasMode ? UInt32(marks & Mark.modeBits) >> Mark.modeShift : nil,
            isDamaged: marks & Mark.damaged != 0
        )
        result.isLeftOut = marks & Mark.leftOut != 0
        result.isFreed = marks & Mark.freed != 0
        result.isFetched = marks & Mark.fetched != 0
        return result
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
        static let modeBits: Int64 = 0o777 << modeShift
        static let freed: Int64 = 1 << 15
        static let known: Int64 = freed | modeBits | 63

        static func all(of entry: ManifestEntry) -> Int64 {
            var marks = entry.mode.map { Int64($0 & 0o777) << modeShift | mode } ?? 0
            if entry.isThroughLink { marks |= throughLink }
            if entry.isLink { marks |= link }
            if entry.isLeftOut { marks |= leftOut }
            if entry.isFreed { marks |= freed }
            if entry.isFetched { marks |= fetched }
            if entry.isDamaged { marks |= damaged }
            return marks
        }
    }

    /// What all columns hold, also those behind the checksum, which only indexes use;
    /// `smallestSearchable` is the least size of what is looked up by content.
    func allValues(smallestSearchable: Int64) throws(ManifestError) -> [SQLValue] {
        var values = try values
        values.append(.integer(Self.isSample(key) ? 1 : 0))
        values.append(size >= smallestSearchable ? .integer(1) : .null)
        return values
    }

    /// One key of 256, chosen by its own bytes: the same one whenever it is recorded, and without
    /// regard to order, so that the sample shows how keys are distributed.
    static func isSample(_ key: ObjectKey) -> Bool {
        CRC64(of: key.bytes).value & 0xFF == 0
    }
}

extension RowSelection<ManifestEntry> {
    private init(_ query: Query, _ values: [SQLValue], from start: ObjectKey? = nil) {
        self.init(query, values, from: start, key: { $0.key })
    }

    /// Entries of `range` in key order, after `after` (nil: from the first).
    package static func entries(in range: KeyRange, after: ObjectKey? = nil) -> Self {
        let start = max(after?.next ?? range.lower, range.lower)
        guard let end = range.upper else { return Self(.selectEntries, [], from: start) }
        return Self(.selectEntriesBefore, [.blob(end.bytes)], from: start)
    }

    /// Entries whose objects have this tag and size, in no particular order.
    package static func entries(etag: ETag, size: Int64) -> Self {
        Self(.selectEntriesByETag, [.integer(size), .text(etag.text)])
    }

    /// Entries whose files have this inode and size, in no particular order.
    package static func entries(inode: UInt64, size: Int64) -> Self {
        Self(.selectEntriesByInode, [SQLValue(bits: inode), .integer(size)])
    }

    /// Entries of this size, in no particular order.
    package static func entries(size: Int64) -> Self {
        Self(.selectEntriesBySize, [.integer(size)])
    }

    /// Entries of this size and time but for the fraction of a second, in no particular order; no
    /// index helps to find them.
    package static func entries(size: Int64, modified: Timestamp) -> Self {
        Self(.selectEntriesLike, [.integer(size), .integer(modified.seconds)])
    }

    /// Damaged entries in key order.
    package static var damagedEntries: Self { Self(.selectDamagedEntries, [], from: "") }

    /// Damaged entries of a size that have this inode, or this time but for the fraction of a
    /// second; in no particular order.
    package static func damagedEntries(
        size: Int64,
        inode: UInt64,
        modified: Timestamp
    ) -> Self {
        Self(
            .selectDamagedEntriesLike,
            [.integer(size), SQLValue(bits: inode), .integer(modified.seconds)]
        )
    }

    /// Damaged entries of a size, in no particular order.
    package static func damagedEntries(size: Int64) -> Self {
        Self(.selectDamagedEntriesBySize, [.integer(size)])
    }

    fileprivate static func entry(_ key: ObjectKey) -> Self { Self(.selectEntry, [], from: key) }
}

extension ManifestStore {
    package func entry(_ key: ObjectKey) throws(ManifestError) -> ManifestEntry? {
        try first(.entry(key))
    }

    /// Entries whose files have one of these inodes: those of them that are among the next `limit`
    /// entries of `range`, and the last key of these, nil at the end.
    ///
    /// Other entries cost a tenth of a read: most are in no index of inodes.
    package func entries(
        inodes: Set<UInt64>,
        in range: KeyRange,
        after: ObjectKey?,
        scanning limit: Int
    ) throws(ManifestError) -> (entries: [ManifestEntry], last: ObjectKey?) {
        let start = SQLValue.blob(max(after?.next ?? range.lower, range.lower).bytes)
        var values = [start, .integer(Int64(limit))]
        if let end = range.upper { values.insert(.blob(end.bytes), at: 0) }
        let query: Query = range.upper == nil ? .selectInodes : .selectInodesBefore
        var keys: [ObjectKey] = []
        var (count, last): (Int, ObjectKey?) = (0, nil)
        try withConnection { connection throws(ManifestError) in
            try connection.forEachRow(query, values) { row throws(ManifestError) in
                count += 1
                func key() -> ObjectKey? {
                    if case .blob(let bytes) = row.value(at: 0) { ObjectKey(bytes) } else { nil }
                }
                if case .integer(let bits) = row.value(at: 1),
                    inodes.contains(UInt64(bitPattern: bits)), let key = key()
                {
                    keys.append(key)
                }
                if count == limit { last = key() }
            }
        }
        var entries: [ManifestEntry] = []
        for key in keys {
            if let entry = try entry(key) { entries.append(entry) }
        }
        return (entries, last)
    }

    /// Calls `body` for each page of `ranges` with the entries whose files have one of these
    /// inodes, which may be none.
    package nonisolated func forEachPage(
        inodes: Set<UInt64>,
        in ranges: [KeyRange],
        scanning limit: Int,
        _ body: ([ManifestEntry]) async throws -> Void
    ) async throws {
        for range in ranges {
            var last: ObjectKey?
            repeat {
                let page = try await entries(
                    inodes: inodes,
                    in: range,
                    after: last,
                    scanning: limit
                )
                try await body(page.entries)
                last = page.last
            } while last != nil
        }
    }

    /// Counts; takes a few milliseconds for each 100,000 entries.
    package func entryCount() throws(ManifestError) -> Int {
        try withConnection { connection throws(ManifestError) in
            try connection.count(.countEntries)
        }
    }

    /// Reads every entry: about as long as ``entryCount()`` takes, several times over.
    package func totals() throws(ManifestError)
        -> (files: Int64, bytes: Int64, damagedFiles: Int64)
    {
        try withConnection { connection throws(ManifestError) in
            var numbers: [Int64] = [0, 0, 0]
            try connection.forEachRow(.selectTotals, []) { row throws(ManifestError) in
                for index in numbers.indices {
                    if case .integer(let number) = row.value(at: index) { numbers[index] = number }
                }
            }
            return (numbers[0], numbers[1], numbers[2])
        }
    }

    /// Counts the entries of `range`.
    package func entryCount(in range: KeyRange) throws(ManifestError) -> Int {
        try withConnection { connection throws(ManifestError) in
            let start = SQLValue.blob(range.lower.bytes)
            guard let end = range.upper else {
                return try connection.count(.countEntriesFrom, [start])
            }
            return try connection.count(.countEntriesBefore, [.blob(end.bytes), start])
        }
    }

    /// Up to `count - 1` keys, ascending, that cut the entries into `count` parts of about the same
    /// number; fewer, down to none, for few entries.
    ///
    /// Reads a fixed sample of the keys, one of 256, when that is enough for even parts.
    package func splitKeys(count: Int) throws(ManifestError) -> [ObjectKey] {
        guard count > 1 else { return [] }
        return try withConnection { connection throws(ManifestError) in
            let sampleCount = try connection.count(.countSample)
            guard sampleCount < count * 32 else {
                return try connection.splitKeys(.selectSampleKeyAfter, sampleCount, count)
            }
            let entryCount = try connection.count(.countEntries)
            return try connection.splitKeys(.selectEntryKeyAfter, entryCount, count)
        }
    }
}

extension Connection {
    func count(_ query: Query, _ values: [SQLValue] = []) throws(ManifestError) -> Int {
        guard case .integer(let count)? = try firstValue(query, values) else { return 0 }
        return Int(count)
    }

    /// Steps from cut to cut, so that the keys are passed once in all.
    fileprivate func splitKeys(
        _ query: Query,
        _ keyCount: Int,
        _ partCount: Int
    ) throws(ManifestError) -> [ObjectKey] {
        var keys: [ObjectKey] = []
        var passed = 0
        for part in 1..<partCount {
            let position = keyCount * part / partCount
            guard position > passed else { continue }
            let values: [SQLValue] = [
                .blob(keys.last?.bytes ?? []), .integer(Int64(position - passed - 1)),
            ]
            guard case .blob(let bytes)? = try firstValue(query, values) else { break }
            keys.append(ObjectKey(bytes))
            passed = position
        }
        return keys
    }
}
