/// The tables of `metadata.db`.
enum Schema {
    static let settings = """
        PRAGMA locking_mode = EXCLUSIVE;
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = OFF;
        PRAGMA foreign_keys = ON;
        PRAGMA cache_size = -65536;
        """

    /// Content is a sequence of segments of blobs.
    ///
    /// So completing a multipart upload and copying an object move no bytes. Of an object's
    /// versions, the one with the highest id is the newest. One index has to do: each costs a page
    /// for each object that is written.
    static let tables = """
        CREATE TABLE IF NOT EXISTS bucket (
            name TEXT PRIMARY KEY, created_ms INTEGER NOT NULL, versioning TEXT
        ) STRICT;
        CREATE TABLE IF NOT EXISTS object (
            id INTEGER PRIMARY KEY,
            bucket TEXT NOT NULL, key BLOB NOT NULL, version_id TEXT NOT NULL,
            is_latest INTEGER NOT NULL, is_marker INTEGER NOT NULL,
            size_bytes INTEGER NOT NULL, etag TEXT NOT NULL, crc64 INTEGER, content_md5 TEXT,
            modified_ms INTEGER NOT NULL, kind TEXT NOT NULL, storage_class TEXT NOT NULL,
            headers TEXT NOT NULL, symlink_target BLOB, restore_polls INTEGER,
            restore_expiry_ms INTEGER, tagging TEXT
        ) STRICT;
        CREATE INDEX IF NOT EXISTS object_order ON object (bucket, key, id DESC);
        CREATE TABLE IF NOT EXISTS segment (
            object_id INTEGER NOT NULL REFERENCES object (id) ON DELETE CASCADE,
            position INTEGER NOT NULL, blob TEXT NOT NULL,
            offset_bytes INTEGER NOT NULL, length_bytes INTEGER NOT NULL,
            PRIMARY KEY (object_id, position)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS segment_blob ON segment (blob);
        CREATE TABLE IF NOT EXISTS upload (
            id TEXT PRIMARY KEY, bucket TEXT NOT NULL, key BLOB NOT NULL,
            initiated_ms INTEGER NOT NULL, storage_class TEXT NOT NULL, headers TEXT NOT NULL,
            tagging TEXT, is_sequential INTEGER NOT NULL, sequence INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX IF NOT EXISTS upload_order ON upload (bucket, key, sequence);
        CREATE TABLE IF NOT EXISTS part (
            upload_id TEXT NOT NULL REFERENCES upload (id) ON DELETE CASCADE,
            number INTEGER NOT NULL, size_bytes INTEGER NOT NULL, etag TEXT NOT NULL,
            crc64 INTEGER NOT NULL, modified_ms INTEGER NOT NULL, blob TEXT NOT NULL,
            checksum TEXT, PRIMARY KEY (upload_id, number)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX IF NOT EXISTS part_blob ON part (blob);
        """
}
