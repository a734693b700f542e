/// Every statement, by name.
enum Statements {
    static let begin = "BEGIN IMMEDIATE"
    static let commit = "COMMIT"
    static let rollback = "ROLLBACK"

    static let insertBucket =
        "INSERT OR IGNORE INTO bucket (name, created_ms, versioning) VALUES (?, ?, NULL)"
    static let bucket = "SELECT name, created_ms, versioning FROM bucket WHERE name = ?"
    static let buckets = "SELECT name, created_ms, versioning FROM bucket ORDER BY name"
    static let setVersioning = "UPDATE bucket SET versioning = ?2 WHERE name = ?1"
    static let deleteBucket = "DELETE FROM bucket WHERE name = ?"
    static let bucketIsUsed = """
        SELECT EXISTS (SELECT 1 FROM object WHERE bucket = ?1),
               EXISTS (SELECT 1 FROM upload WHERE bucket = ?1)
        """

    private static let objectColumns = """
        id, key, version_id, is_latest, is_marker, size_bytes, etag, crc64, content_md5, \
        modified_ms, kind, storage_class, headers, symlink_target, restore_polls, \
        restore_expiry_ms, tagging
        """
    static let latest = """
        SELECT \(objectColumns) FROM object WHERE bucket = ? AND key = ? AND is_latest = 1
        """
    static let oneVersion = """
        SELECT \(objectColumns) FROM object WHERE bucket = ? AND key = ? AND version_id = ?
        """
    static let newestVersion = """
        SELECT \(objectColumns) FROM object WHERE bucket = ? AND key = ? ORDER BY id DESC LIMIT 1
        """
    static let objectsFrom = """
        SELECT \(objectColumns) FROM object
        WHERE bucket = ? AND is_latest = 1 AND is_marker = 0 AND key >= ? ORDER BY key LIMIT ?
        """
    static let versionsFrom = """
        SELECT \(objectColumns) FROM object
        WHERE bucket = ?1 AND key >= ?2 AND (key > ?2 OR id < ?3) ORDER BY key, id DESC LIMIT ?4
        """
    static let insertObject = """
        INSERT INTO object (bucket, key, version_id, is_latest, is_marker, size_bytes, etag, crc64,
            content_md5, modified_ms, kind, storage_class, headers, symlink_target, restore_polls,
            restore_expiry_ms, tagging)
        VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?)
        """
    static let notLatest =
        "UPDATE object SET is_latest = 0 WHERE bucket = ? AND key = ? AND is_latest = 1"
    static let makeLatest = "UPDATE object SET is_latest = 1 WHERE id = ?"
    static let deleteObject = "DELETE FROM object WHERE id = ?"
    static let setRestore =
        "UPDATE object SET restore_polls = ?2, restore_expiry_ms = ?3 WHERE id = ?1"
    static let setTagging = "UPDATE object SET tagging = ?2 WHERE id = ?1"

    static let insertSegment = """
        INSERT INTO segment (object_id, position, blob, offset_bytes, length_bytes)
        VALUES (?, ?, ?, ?, ?)
        """
    static let segments = """
        SELECT blob, offset_bytes, length_bytes FROM segment WHERE object_id = ? ORDER BY position
        """
    static let blobIsUsed = """
        SELECT EXISTS (SELECT 1 FROM segment WHERE blob = ?1)
            OR EXISTS (SELECT 1 FROM part WHERE blob = ?1)
        """

    static let insertUpload = """
        INSERT INTO upload (id, bucket, key, initiated_ms, storage_class, headers, tagging,
            is_sequential, sequence)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, (SELECT COALESCE(MAX(sequence), 0) + 1 FROM upload))
        """
    private static let uploadColumns =
        "id, key, initiated_ms, storage_class, headers, tagging, is_sequential, sequence"
    static let upload = """
        SELECT \(uploadColumns) FROM upload WHERE bucket = ? AND key = ? AND id = ?
        """
    static let uploadsFrom = """
        SELECT \(uploadColumns) FROM upload
        WHERE bucket = ? AND (key, sequence) > (?, ?) ORDER BY key, sequence LIMIT ?
        """
    static let deleteUpload = "DELETE FROM upload WHERE id = ?"

    static let insertPart = """
        INSERT OR REPLACE INTO part (upload_id, number, size_bytes, etag, crc64, modified_ms, blob,
            checksum)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        """
    private static let partColumns = "number, size_bytes, etag, crc64, modified_ms, blob, checksum"
    static let part = "SELECT \(partColumns) FROM part WHERE upload_id = ? AND number = ?"
    static let partsAfter = """
        SELECT \(partColumns) FROM part WHERE upload_id = ? AND number > ? ORDER BY number LIMIT ?
        """
}
