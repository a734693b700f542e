/// Every query and change that the store makes, compiled once for each connection.
///
/// Parameters are bound in the order of the columns; a cursor names the last key it has seen, so
/// that a page costs the same wherever it is.
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

    case upsertSetting = """
        INSERT INTO setting (name, value, row_check) VALUES (?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, row_check = excluded.row_check
        """
    case deleteSetting = "DELETE FROM setting WHERE name = ?"
    case selectSetting = "SELECT name, value, row_check FROM setting WHERE name = ?"

    // MARK: - Another remote

    case deleteAllEntries = "DELETE FROM entry"
    case deleteAllDownloads = "DELETE FROM download"
    case deleteAllUploads = "DELETE FROM upload"

    // MARK: - Entries

    case upsertEntry = """
        INSERT INTO entry (
            key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check, is_sample, is_searchable
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET
            size_bytes = excluded.size_bytes, etag = excluded.etag, crc64 = excluded.crc64,
            last_modified_seconds = excluded.last_modified_seconds,
            last_modified_nanoseconds = excluded.last_modified_nanoseconds,
            storage_class = excluded.storage_class,
            local_modified_seconds = excluded.local_modified_seconds,
            local_modified_nanoseconds = excluded.local_modified_nanoseconds,
            inode = excluded.inode, changed_nanoseconds = excluded.changed_nanoseconds,
            marks = excluded.marks, row_check = excluded.row_check,
            is_searchable = excluded.is_searchable
        """
    case deleteEntry = "DELETE FROM entry WHERE key = ?"
    case selectEntry = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry WHERE key = ?
        """
    case selectEntries = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry WHERE key >= ? ORDER BY key LIMIT ?
        """
    case selectEntriesBefore = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry WHERE key >= ? AND key < ? ORDER BY key LIMIT ?
        """
    case selectEntriesBySize = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry WHERE size_bytes = ? AND is_searchable = 1 LIMIT ?
        """
    case selectEntriesByETag = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry WHERE size_bytes = ? AND etag = ? AND is_searchable = 1 LIMIT ?
        """
    case selectEntriesByInode = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry WHERE inode = ? AND size_bytes = ? AND inode <> 0 AND is_searchable = 1
        LIMIT ?
        """
    case selectDamagedEntries = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry INDEXED BY entry_damaged
        WHERE marks & 16 <> 0 AND key > ? ORDER BY key LIMIT ?
        """
    case selectDamagedEntriesLike = """
        SELECT key, size_bytes, etag, crc64, last_modified_seconds, last_modified_nanoseconds,
            storage_class, local_modified_seconds, local_modified_nanoseconds, inode,
            changed_nanoseconds, marks, row_check
        FROM entry INDEXED BY entry_damaged_by_size
        WHERE size_bytes = ? AND marks & 16 <> 0 AND (inode = ? OR local_modified_seconds = ?)
        LIMIT ?
        """
    case selectInodes = """
        SELECT key, inode FROM entry WHERE key >= ? ORDER BY key LIMIT ?
        """
    case selectInodesBefore = """
        SELECT key, inode FROM entry WHERE key >= ? AND key < ? ORDER BY key LIMIT ?
        """
    case countEntries = "SELECT count(*) FROM entry"
    case countEntriesFrom = "SELECT count(*) FROM entry WHERE key >= ?"
    case countEntriesBefore = "SELECT count(*) FROM entry WHERE key >= ? AND key < ?"
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

    // MARK: - Downloads

    case insertDownload = """
        INSERT INTO download (
            key, size_bytes, etag, crc64, partial_name, range_size_bytes, row_check
        ) VALUES (?, ?, ?, ?, ?, ?, ?)
        """
    case deleteDownload = "DELETE FROM download WHERE key = ?"
    case selectDownload = """
        SELECT key, size_bytes, etag, crc64, partial_name, range_size_bytes, row_check
        FROM download WHERE key = ?
        """
    case selectDownloads = """
        SELECT key, size_bytes, etag, crc64, partial_name, range_size_bytes, row_check
        FROM download WHERE key > ? ORDER BY key LIMIT ?
        """
    case upsertRange = """
        INSERT INTO download_range (
            key, range_index, offset_bytes, length_bytes, received_bytes, received_crc64, boot_id,
            row_check
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (key, range_index) DO UPDATE SET
            offset_bytes = excluded.offset_bytes, length_bytes = excluded.length_bytes,
            received_bytes = excluded.received_bytes, received_crc64 = excluded.received_crc64,
            boot_id = excluded.boot_id, row_check = excluded.row_check
        """
    case selectRanges = """
        SELECT key, range_index, offset_bytes, length_bytes, received_bytes, received_crc64,
            boot_id, row_check
        FROM download_range WHERE key = ? ORDER BY range_index
        """

    case upsertSeal = """
        INSERT INTO download_seal (
            key, partial_size_bytes, partial_modified_seconds, partial_modified_nanoseconds,
            partial_changed_seconds, partial_changed_nanoseconds, partial_inode, partial_device,
            row_check
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET
            partial_size_bytes = excluded.partial_size_bytes,
            partial_modified_seconds = excluded.partial_modified_seconds,
            partial_modified_nanoseconds = excluded.partial_modified_nanoseconds,
            partial_changed_seconds = excluded.partial_changed_seconds,
            partial_changed_nanoseconds = excluded.partial_changed_nanoseconds,
            partial_inode = excluded.partial_inode, partial_device = excluded.partial_device,
            row_check = excluded.row_check
        """
    case selectSeal = """
        SELECT key, partial_size_bytes, partial_modified_seconds, partial_modified_nanoseconds,
            partial_changed_seconds, partial_changed_nanoseconds, partial_inode, partial_device,
            row_check
        FROM download_seal WHERE key = ?
        """

    // MARK: - Comparisons

    case upsertComparison = """
        INSERT INTO comparison (key, size_bytes, etag, crc64, row_check) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (key) DO UPDATE SET
            size_bytes = excluded.size_bytes, etag = excluded.etag, crc64 = excluded.crc64,
            row_check = excluded.row_check
        """
    case selectComparison = """
        SELECT key, size_bytes, etag, crc64, row_check FROM comparison WHERE key = ?
        """
    case selectAnyComparison = "SELECT size_bytes FROM comparison ORDER BY key LIMIT 1"
    case deleteAllComparisons = "DELETE FROM comparison"

    // MARK: - Uploads

    case insertUpload = """
        INSERT INTO upload (
            key, upload_id, part_size_bytes, source_size_bytes, source_modified_seconds,
            source_modified_nanoseconds, source_changed_seconds, source_changed_nanoseconds,
            source_inode, source_device, token, started_seconds, started_nanoseconds, row_check
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    case deleteUpload = "DELETE FROM upload WHERE key = ?"
    case updateUploadID = "UPDATE upload SET upload_id = ?, row_check = ? WHERE key = ?"
    case selectUpload = """
        SELECT key, upload_id, part_size_bytes, source_size_bytes, source_modified_seconds,
            source_modified_nanoseconds, source_changed_seconds, source_changed_nanoseconds,
            source_inode, source_device, token, started_seconds, started_nanoseconds, row_check
        FROM upload WHERE key = ?
        """
    case selectUploads = """
        SELECT key, upload_id, part_size_bytes, source_size_bytes, source_modified_seconds,
            source_modified_nanoseconds, source_changed_seconds, source_changed_nanoseconds,
            source_inode, source_device, token, started_seconds, started_nanoseconds, row_check
        FROM upload WHERE key > ? ORDER BY key LIMIT ?
        """
    case upsertPart = """
        INSERT INTO upload_part (key, part_number, size_bytes, etag, crc64, row_check)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (key, part_number) DO UPDATE SET
            size_bytes = excluded.size_bytes, etag = excluded.etag, crc64 = excluded.crc64,
            row_check = excluded.row_check
        """
    case selectParts = """
        SELECT key, part_number, size_bytes, etag, crc64, row_check
        FROM upload_part WHERE key = ? ORDER BY part_number
        """

    // MARK: - Planned deletions

    case upsertDeletion = """
        INSERT INTO planned_deletion (
            run_id, side, key, size_bytes, etag, file_size_bytes, file_modified_seconds,
            file_modified_nanoseconds, file_changed_seconds, file_changed_nanoseconds, file_inode,
            file_device, row_check
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT (run_id, side, key) DO UPDATE SET
            size_bytes = excluded.size_bytes, etag = excluded.etag,
            file_size_bytes = excluded.file_size_bytes,
            file_modified_seconds = excluded.file_modified_seconds,
            file_modified_nanoseconds = excluded.file_modified_nanoseconds,
            file_changed_seconds = excluded.file_changed_seconds,
            file_changed_nanoseconds = excluded.file_changed_nanoseconds,
            file_inode = excluded.file_inode, file_device = excluded.file_device,
            row_check = excluded.row_check
        """
    case selectDeletionsAfter = """
        SELECT run_id, side, key, size_bytes, etag, file_size_bytes, file_modified_seconds,
            file_modified_nanoseconds, file_changed_seconds, file_changed_nanoseconds, file_inode,
            file_device, row_check
        FROM planned_deletion WHERE run_id = ? AND side = ? AND key > ? ORDER BY key LIMIT ?
        """
    case selectLastDeletions = """
        SELECT run_id, side, key, size_bytes, etag, file_size_bytes, file_modified_seconds,
            file_modified_nanoseconds, file_changed_seconds, file_changed_nanoseconds, file_inode,
            file_device, row_check
        FROM planned_deletion WHERE run_id = ? AND side = ? ORDER BY key DESC LIMIT ?
        """
    case selectDeletionsBefore = """
        SELECT run_id, side, key, size_bytes, etag, file_size_bytes, file_modified_seconds,
            file_modified_nanoseconds, file_changed_seconds, file_changed_nanoseconds, file_inode,
            file_device, row_check
        FROM planned_deletion WHERE run_id = ? AND side = ? AND key < ? ORDER BY key DESC LIMIT ?
        """
    case countDeletions = "SELECT count(*) FROM planned_deletion WHERE run_id = ? AND side = ?"
    case selectDeletion = """
        SELECT run_id, side, key, size_bytes, etag, file_size_bytes, file_modified_seconds,
            file_modified_nanoseconds, file_changed_seconds, file_changed_nanoseconds, file_inode,
            file_device, row_check
        FROM planned_deletion WHERE run_id = ? AND side = ? AND key = ?
        """
    case deleteDeletion = "DELETE FROM planned_deletion WHERE run_id = ? AND side = ? AND key = ?"
    case deleteDeletionsBetween = """
        DELETE FROM planned_deletion WHERE run_id = ? AND side = ? AND key >= ? AND key < ?
        """
    case deleteDeletions = "DELETE FROM planned_deletion WHERE run_id = ?"
    case selectLastPlannedRun = "SELECT max(run_id) FROM planned_deletion WHERE run_id < ?"
    case deleteEarlierDeletions = "DELETE FROM planned_deletion WHERE run_id < ?"

    // MARK: - Runs

    case insertRun = """
        INSERT INTO run (
            run_id, direction, started_seconds, started_nanoseconds, remote, outcome,
            duration_seconds, transferred, transferred_bytes, resumed_bytes, deleted, renamed,
            adopted, unchanged, conflicts, failed, skipped, local_changes, requests,
            vanished, message, paths, row_check
        ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """
    case selectLastRunID = "SELECT max(run_id) FROM run"
    case selectRun = """
        SELECT run_id, direction, started_seconds, started_nanoseconds, remote, outcome,
            duration_seconds, transferred, transferred_bytes, resumed_bytes, deleted, renamed,
            adopted, unchanged, conflicts, failed, skipped, local_changes, requests,
            vanished, message, paths, row_check
        FROM run WHERE run_id = ?
        """
    case selectRuns = """
        SELECT run_id, direction, started_seconds, started_nanoseconds, remote, outcome,
            duration_seconds, transferred, transferred_bytes, resumed_bytes, deleted, renamed,
            adopted, unchanged, conflicts, failed, skipped, local_changes, requests,
            vanished, message, paths, row_check
        FROM run ORDER BY run_id DESC LIMIT ?
        """
    case finishRun = """
        UPDATE run SET outcome = ?, duration_seconds = ?, transferred = ?, transferred_bytes = ?,
            resumed_bytes = ?, deleted = ?, renamed = ?, adopted = ?, unchanged = ?,
            conflicts = ?, failed = ?, skipped = ?, local_changes = ?, requests = ?, vanished = ?,
            message = ?, row_check = ?
        WHERE run_id = ?
        """
    case deleteRunsThrough = "DELETE FROM run WHERE run_id <= ?"
    case insertItem = """
        INSERT INTO run_item (run_id, item_number, key, action, state, message, row_check)
        VALUES (?, ?, ?, ?, ?, ?, ?)
        """
    case deleteItemsThrough = """
        DELETE FROM run_item WHERE (run_id, item_number) IN (
            SELECT run_id, item_number FROM run_item
            WHERE run_id <= ? ORDER BY run_id, item_number LIMIT ?
        )
        """
    case selectLastItemNumber = "SELECT max(item_number) FROM run_item WHERE run_id = ?"
    case selectItems = """
        SELECT run_id, item_number, key, action, state, message, row_check
        FROM run_item WHERE run_id = ? AND item_number > ? ORDER BY item_number LIMIT ?
        """
}

/// What brings rows from another manifest, which is there under the name `source`.
enum RowCopy {
    /// With a range of keys, parents before what refers to them.
    static let ofKeys = [
        "INSERT INTO entry SELECT * FROM source.entry WHERE key >= ? AND key < ?",
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
