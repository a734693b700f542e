package import SyncModel

extension ManifestStore {
    /// Up to `limit` entries of `range` in key order, after `after` (nil: from the first).
    ///
    /// Fewer than `limit` are the last ones. A page costs the same wherever it is.
    package func entries(
        in range: KeyRange,
        after: ObjectKey?,
        limit: Int
    ) throws(ManifestError) -> [ManifestEntry] {
        let start = SQLValue.blob(max(after?.next ?? range.lower, range.lower).bytes)
        guard let end = range.upper else {
            return try entries(.selectEntries, [start, .integer(Int64(limit))])
        }
        return try entries(
            .selectEntriesBefore,
            [start, .blob(end.bytes), .integer(Int64(limit))]
        )
    }

    package func entry(_ key: ObjectKey) throws(ManifestError) -> ManifestEntry? {
        try entries(.selectEntry, [.blob(key.bytes)]).first
    }

    /// Entries whose objects have this tag and size, in no particular order.
    package func entries(
        etag: ETag,
        size: Int64,
        limit: Int
    ) throws(ManifestError) -> [ManifestEntry] {
        try entries(
            .selectEntriesByETag,
            [.integer(size), .text(etag.text), .integer(Int64(limit))]
        )
    }

    /// Entries whose files have this inode and size, in no particular order.
    package func entries(
        inode: UInt64,
        size: Int64,
        limit: Int
    ) throws(ManifestError) -> [ManifestEntry] {
        let inode = SQLValue.integer(Int64(bitPattern: inode))
        return try entries(.selectEntriesByInode, [inode, .integer(size), .integer(Int64(limit))])
    }

    /// Entries of this size, in no particular order.
    package func entries(size: Int64, limit: Int) throws(ManifestError) -> [ManifestEntry] {
        try entries(.selectEntriesBySize, [.integer(size), .integer(Int64(limit))])
    }

    /// Entries that record one of `files`, which are by their inodes: those of them that are among
    /// the next `limit` entries of `range`, and the last key of these, nil at the end.
    ///
    /// Other entries cost a tenth of a read: most are in no index of inodes.
    package func entries(
        of files: [UInt64: FileIdentity],
        in range: KeyRange,
        after: ObjectKey?,
        scanning limit: Int
    ) throws(ManifestError) -> (entries: [ManifestEntry], last: ObjectKey?) {
        let start = SQLValue.blob(max(after?.next ?? range.lower, range.lower).bytes)
        var values = [start, .integer(Int64(limit))]
        if let end = range.upper { values.insert(.blob(end.bytes), at: 1) }
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
                    files[UInt64(bitPattern: bits)] != nil, let key = key()
                {
                    keys.append(key)
                }
                if count == limit { last = key() }
            }
        }
        var entries: [ManifestEntry] = []
        for key in keys {
            guard let entry = try entry(key), let file = files[entry.inode], entry.isOf(file)
            else { continue }
            entries.append(entry)
        }
        return (entries, last)
    }

    /// Up to `limit` damaged entries in key order, after `after` (nil: from the first).
    package func damagedEntries(
        after: ObjectKey?,
        limit: Int
    ) throws(ManifestError) -> [ManifestEntry] {
        try entries(
            .selectDamagedEntries,
            [.blob(after?.bytes ?? []), .integer(Int64(limit))]
        )
    }

    /// Damaged entries of the size of `file` that have its inode, or its time but for the fraction
    /// of a second; in no particular order.
    package func damagedEntries(
        like file: FileIdentity,
        limit: Int
    ) throws(ManifestError) -> [ManifestEntry] {
        let inode = SQLValue.integer(Int64(bitPattern: file.inode))
        return try entries(
            .selectDamagedEntriesLike,
            [
                .integer(file.size), inode, .integer(file.modified.seconds),
                .integer(Int64(limit)),
            ]
        )
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
            return try connection.count(.countEntriesBefore, [start, .blob(end.bytes)])
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

    private func entries(
        _ query: Query,
        _ values: [SQLValue]
    ) throws(ManifestError) -> [ManifestEntry] {
        try withConnection { connection throws(ManifestError) in
            var entries: [ManifestEntry] = []
            try connection.forEachRow(query, values) { statement throws(ManifestError) in
                entries.append(try EntryRow.read(statement))
            }
            return entries
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
