internal import SyncModel

/// Rows of the tables `download`, `download_range` and `download_seal`.
enum DownloadRow {
    static func values(of checkpoint: DownloadCheckpoint) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(checkpoint.key)
        values.append(checkpoint.size)
        values.append(checkpoint.etag.text)
        values.append(checkpoint.crc64)
        values.append(checkpoint.partialName)
        values.append(checkpoint.rangeSize)
        return RowDigest.sealing(values, table: .download)
    }

    static func values(of range: RangeProgress, key: ObjectKey) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(key)
        values.append(Int64(range.index))
        values.append(range.range.offset)
        values.append(range.range.length)
        values.append(range.received)
        values.append(range.checksum)
        values.append(range.bootID)
        return RowDigest.sealing(values, table: .downloadRange)
    }

    static func values(of seal: FileIdentity, key: ObjectKey) -> [SQLValue] {
        var values: [SQLValue] = []
        values.append(key)
        values.append(seal)
        return RowDigest.sealing(values, table: .downloadSeal)
    }

    static func check(_ checkpoint: DownloadCheckpoint) throws(ManifestError) {
        try Requirement.key(checkpoint.key)
        try Requirement.notNegative(checkpoint.size, "a download's size")
        try Requirement.positive(checkpoint.rangeSize, "a range size")
        try Requirement.length(checkpoint.etag.text, "an ETag", limit: ManifestLimits.etag)
        guard isFileName(checkpoint.partialName) else {
            throw .invalidValue("a partial's name is not a file name")
        }
        var previous = -1
        for range in checkpoint.ranges {
            guard range.index > previous else {
                throw .invalidValue("the ranges of a download are not in order")
            }
            previous = range.index
            try check(range)
            guard range.range.end <= checkpoint.size else {
                throw .invalidValue("a range of a download reaches beyond its end")
            }
        }
    }

    static func check(_ range: RangeProgress) throws(ManifestError) {
        if let problem = problem(of: range) { throw .invalidValue(problem) }
        try Requirement.length(range.bootID, "a boot id", limit: ManifestLimits.token)
    }

    /// A name that leads nowhere else than into the directory of the partials.
    private static func isFileName(_ name: String) -> Bool {
        let bytes = name.utf8
        return !bytes.isEmpty && bytes.count <= ManifestLimits.fileName && name != "."
            && name != ".."
            && !bytes.contains(UInt8(ascii: "/")) && !bytes.contains(0)
    }

    private static func problem(of range: RangeProgress) -> String? {
        guard range.index >= 0, range.index < ManifestLimits.rangeCount else {
            return "a range has the index \(range.index)"
        }
        guard range.received >= 0, range.received <= range.range.length else {
            return "a range of \(range.range.length) bytes has received \(range.received)"
        }
        return nil
    }

    /// The row of `download`, with what the other tables have for its key.
    static func read(
        _ statement: PreparedStatement,
        ranges: (ObjectKey) throws(ManifestError) -> [RangeProgress],
        seal: (ObjectKey) throws(ManifestError) -> FileIdentity?
    ) throws(ManifestError) -> DownloadCheckpoint {
        var row = RowReader(statement, table: .download)
        let key = try row.key(limit: ManifestLimits.key)
        let size = try row.count("its size")
        let etag = ETag(stored: try row.text("its ETag", limit: ManifestLimits.etag))
        let crc64 = try row.checksum("its CRC-64")
        let name = try row.text("its partial's name", limit: ManifestLimits.fileName)
        let rangeSize = try row.count("its range size")
        try row.finish()
        guard rangeSize > 0 else { throw row.failure("its range size is 0") }
        guard isFileName(name) else { throw row.failure("its partial's name is not a file name") }
        let ranges = try ranges(key)
        for range in ranges where range.range.end > size {
            throw row.failure("its range \(range.index) reaches beyond its end")
        }
        return DownloadCheckpoint(
            key: key,
            size: size,
            etag: etag,
            crc64: crc64,
            partialName: name,
            rangeSize: rangeSize,
            ranges: ranges,
            seal: try seal(key)
        )
    }

    static func readSeal(_ statement: PreparedStatement) throws(ManifestError) -> FileIdentity {
        var row = RowReader(statement, table: .downloadSeal)
        _ = try row.key(limit: ManifestLimits.key)
        let identity = try row.identity("its partial")
        try row.finish()
        return identity
    }

    static func readRange(_ statement: PreparedStatement) throws(ManifestError) -> RangeProgress {
        var row = RowReader(statement, table: .downloadRange)
        _ = try row.key(limit: ManifestLimits.key)
        let index = Int(try row.count("its index"))
        let (offset, length) = (try row.count("its offset"), try row.count("its length"))
        guard !offset.addingReportingOverflow(length).overflow else {
            throw row.failure("a range has the offset \(offset) and the length \(length)")
        }
        let range = RangeProgress(
            index: index,
            range: ByteRange(offset: offset, length: length),
            received: try row.count("its received bytes"),
            checksum: CRC64(value: try row.bits("its CRC-64")),
            bootID: try row.text("its boot id", limit: ManifestLimits.token)
        )
        try row.finish()
        if let problem = problem(of: range) { throw row.failure(problem) }
        return range
    }
}
