/// Every query and change that the store makes but the writing of rows, compiled once for each
/// connection.
///
/// A `*` stands for the columns of a ``Row``. What a page begins with is the last parameter but the
/// number of rows, so that a page costs the same wherever it is.
enum Query: String, CaseIterable, Sendable {
    /// By the length, which most statements have alone: hashing the text itself, which is long,
    /// takes longer than binding the values of a row.
    func hash(into hasher: inout Hasher) { hasher.combine(rawValue.utf8.count) }

    // MARK: - The store itself

    case begin = "BEGIN IMMEDIATE"
    case commit = "COMMIT"
    case rollback = "ROLLBACK"
    case insertStore = "INSERT INTO store (number, identity, generation) VALUES (1, ?, 0)"
    case selectIdentity = "SELECT identity FROM store WHERE number = 1"
    case advanceGeneration = "UPDATE store SET generation = generation + 1 WHERE number = 1"
    case beginCall = "SAVEPOINT call"
    case endCall = "RELEASE call"
    case undoCall = "ROLLBACK TO call"

    case deleteSetting = "DELETE FROM setting WHERE name = ?"
    case selectSetting = "SELECT * FROM setting WHERE name = ? LIMIT ?"

    // MARK: - Another remote

    /// Of damaged files it is known, too, that there is nothing good to send.
    case deleteSoundEntries = "DELETE FROM entry WHERE marks & 16 = 0"
    case deleteAllDownloads = "DELETE FROM download"
    case deleteAllUploads = "DELETE FROM upload"

    // MARK: - Entries

    case deleteEntry = "DELETE FROM entry WHERE key = ?"
    case selectEntry = "SELECT * FROM entry WHERE key = ? LIMIT ?"
    case selectEntries = "SELECT * FROM entry WHERE key >= ? ORDER BY key LIMIT ?"
    case selectEntriesBefore = """
        SELECT * FROM entry WHERE key < ? AND key >= ? ORDER BY key LIMIT ?
        """
    case selectEntriesBySize = """
        SELECT * FROM entry WHERE size_bytes = ? AND is_searchable = 1 LIMIT ?
        """
    case selectEntriesByETag = """
        SELECT * FROM entry WHERE size_bytes = ? AND etag = ? AND is_searchable = 1 LIMIT ?
        """
    case selectEntriesByInode = """
        SELECT * FROM entry WHERE inode = ? AND size_bytes = ? AND inode <> 0 AND is_searchable = 1
        LIMIT ?
        """
    case selectDamagedEntries = """
        SELECT * FROM entry INDEXED BY entry_damaged
        WHERE marks & 16 <> 0 AND key >= ? ORDER BY key LIMIT ?
        """
    case selectDamagedEntriesLike = """
        SELECT * FROM entry INDEXED BY entry_damaged_by_size
        WHERE size_bytes = ? AND marks & 16 <> 0 AND (inode = ? OR local_modified_seconds = ?)
        LIMIT ?
        """
    case selectDamagedEntriesBySize = """
        SELECT * FROM entry INDEXED BY entry_damaged_by_size
        WHERE size_bytes = ? AND marks & 16 <> 0 LIMIT ?
        """
    case selectEntriesLike = """
        SELECT * FROM entry WHERE size_bytes = ? AND local_modified_seconds = ? LIMIT ?
        """
    case selectInodes = """
        SELECT key, inode FROM entry WHERE key >= ? ORDER BY key LIMIT ?
        """
    case selectInodesBefore = """
        SELECT key, inode FROM entry WHERE key < ? AND key >= ? ORDER BY key LIMIT ?
        """
    case countEntries = "SELECT count(*) FROM entry"
    case countEntriesFrom = "SELECT count(*) FROM entry WHERE key >= ?"
    case countEntriesBefore = "SELECT count(*) FROM entry WHERE key < ? AND key >= ?"
    /// A key that ends in "/" is a directory's.
    case selectTotals = """
        SELECT count(*), coalesce(sum(size_bytes), 0), coalesce(sum(marks & 16 <> 0), 0)
        FROM entry WHERE substr(key, -1) <> x'2F'
        """
    case countSample = "SELECT count(*) FROM entry INDEXED BY entry_sample WHERE is_sample = 1"
    case selectEntryKeyAfter = "SELECT key FROM entry WHERE key > ? ORDER BY key LIMIT 1 OFFSET ?"
    case selectSampleKeyAfter = """
        SELECT key FROM entry INDEXED BY entry_sample
        WHERE is_sample = 1 AND key > ? ORDER BY key LIMIT 1 OFFSET ?
        """

    case selectSentParts = "SELECT * FROM sent_parts WHERE key = ? LIMIT ?"

    // MARK: - Transfers

    case deleteDownload = "DELETE FROM download WHERE key = ?"
    case selectDownload = "SELECT * FROM download WHERE key = ? LIMIT ?"
    case selectDownloads = "SELECT * FROM download WHERE key >= ? ORDER BY key LIMIT ?"
    case selectRanges = "SELECT * FROM download_range WHERE key = ? ORDER BY range_index"
    case selectSeal = "SELECT * FROM download_seal WHERE key = ?"
    case deleteUpload = "DELETE FROM upload WHERE key = ?"
    case selectUpload = "SELECT * FROM upload WHERE key = ? LIMIT ?"
    case selectUploads = "SELECT * FROM upload WHERE key >= ? ORDER BY key LIMIT ?"
    case selectParts = "SELECT * FROM upload_part WHERE key = ? ORDER BY part_number"

    // MARK: - Comparisons

    case selectComparison = "SELECT * FROM comparison WHERE key = ? LIMIT ?"
    case selectAnyComparison = "SELECT size_bytes FROM comparison ORDER BY key LIMIT 1"
    case deleteAllComparisons = "DELETE FROM comparison"

    // MARK: - Planned deletions

    case selectDeletion = """
        SELECT * FROM planned_deletion WHERE run_id = ? AND side = ? AND key = ? LIMIT ?
        """
    case selectDeletionsFrom = """
        SELECT * FROM planned_deletion WHERE run_id = ? AND side = ? AND key >= ?
        ORDER BY key LIMIT ?
        """
    case selectDeletionsBefore = """
        SELECT * FROM planned_deletion WHERE run_id = ? AND side = ? AND key < ?
        ORDER BY key DESC LIMIT ?
        """
    case countDeletions = "SELECT count(*) FROM planned_deletion WHERE run_id = ? AND side = ?"
    case deleteDeletion = "DELETE FROM planned_deletion WHERE run_id = ? AND side = ? AND key = ?"
    case deleteDeletionsBetween = """
        DELETE FROM planned_deletion WHERE run_id = ? AND side = ? AND key >= ? AND key < ?
        """
    case deleteDeletions = "DELETE FROM planned_deletion WHERE run_id = ?"
    case selectLastPlannedRun = "SELECT max(run_id) FROM planned_deletion WHERE run_id < ?"
    case deleteEarlierDeletions = "DELETE FROM planned_deletion WHERE run_id < ?"

    // MARK: - Runs

    case selectLastRunID = "SELECT max(run_id) FROM run"
    case selectRun = "SELECT * FROM run WHERE run_id = ? LIMIT ?"
    case selectRuns = "SELECT * FROM run ORDER BY run_id DESC LIMIT ?"
    case deleteRunsThrough = "DELETE FROM run WHERE run_id <= ?"
    case selectLastRunWithItems = "SELECT max(run_id) FROM run_item WHERE run_id < ?"
    case deleteItemsThrough = """
        DELETE FROM run_item WHERE (run_id, item_number) IN (
            SELECT run_id, item_number FROM run_item
            WHERE run_id <= ? ORDER BY run_id, item_number LIMIT ?
        )
        """
    case selectConflictCopies = """
        SELECT key FROM run_item WHERE instr(key, CAST('.conflict-' AS BLOB)) > 0 LIMIT ?
        """
    case selectLastItemNumber = "SELECT max(item_number) FROM run_item WHERE run_id = ?"
    case selectItems = """
        SELECT * FROM run_item WHERE run_id = ? AND item_number >= ? ORDER BY item_number LIMIT ?
        """

    /// As SQLite reads it: with the names of the columns.
    var text: String {
        let start = "SELECT * FROM "
        guard rawValue.utf8.starts(with: start.utf8) else { return rawValue }
        let rest = rawValue.utf8.dropFirst(start.utf8.count)
        let name = String(Substring(rest.prefix { $0 != UInt8(ascii: " ") }))
        let columns = Table(rawValue: name)?.columns.ofRow ?? []
        return "SELECT " + columns.joined(separator: ", ") + " FROM " + Substring(rest)
    }
}

extension Table {
    /// Writes a row, in place of an earlier one of the same key.
    var upsert: String {
        let columns = columns
        let changed = columns.all.filter { !columns.key.contains($0) }
        return "INSERT INTO " + rawValue + " (" + columns.all.joined(separator: ", ") + ") VALUES ("
            + columns.all.map { _ in "?" }.joined(separator: ", ") + ") ON CONFLICT ("
            + columns.key.joined(separator: ", ") + ") DO UPDATE SET "
            + changed.map { $0 + " = excluded." + $0 }.joined(separator: ", ")
    }
}

/// What brings rows from another manifest, which is there under the name `source`.
enum RowCopy {
    /// With a range of keys, parents before what refers to them.
    static let ofKeys = [
        "INSERT INTO entry SELECT * FROM source.entry WHERE key >= ? AND key < ?",
        "INSERT INTO sent_parts SELECT * FROM source.sent_parts WHERE key >= ? AND key < ?",
        "INSERT INTO comparison SELECT * FROM source.comparison WHERE key >= ? AND key < ?",
        "INSERT INTO download SELECT * FROM source.download WHERE key >= ? AND key < ?",
        "INSERT INTO download_range SELECT * FROM source.download_range WHERE key >= ? AND key < ?",
        "INSERT INTO download_seal SELECT * FROM source.download_seal WHERE key >= ? AND key < ?",
        "INSERT INTO upload SELECT * FROM source.upload WHERE key >= ? AND key < ?",
        "INSERT INTO upload_part SELECT * FROM source.upload_part WHERE key >= ? AND key < ?",
    ]

    /// What is not here already.
    static let ofMirror = [
        "INSERT OR IGNORE INTO setting SELECT * FROM source.setting",
        "INSERT OR IGNORE INTO run SELECT * FROM source.run",
    ]
}
