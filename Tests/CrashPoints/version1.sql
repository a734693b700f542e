-- The tables of the manifest's version 1, as the program made them that wrote it.

CREATE TABLE store (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    identity BLOB NOT NULL CHECK (length(identity) = 16),
    generation INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL,
    row_check INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
    key BLOB NOT NULL PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    etag TEXT NOT NULL,
    crc64 INTEGER,
    last_modified_seconds INTEGER,
    last_modified_nanoseconds INTEGER,
    storage_class TEXT NOT NULL,
    local_modified_seconds INTEGER NOT NULL,
    local_modified_nanoseconds INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    row_check INTEGER NOT NULL,
    is_sample INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX entry_by_size ON entry (size_bytes, etag);

CREATE INDEX entry_by_inode ON entry (inode, size_bytes) WHERE inode <> 0;

CREATE INDEX entry_sample ON entry (key, is_sample) WHERE is_sample = 1;

CREATE TABLE download (
    key BLOB NOT NULL PRIMARY KEY,
    size_bytes INTEGER NOT NULL,
    etag TEXT NOT NULL,
    crc64 INTEGER,
    partial_name TEXT NOT NULL,
    range_size_bytes INTEGER NOT NULL,
    row_check INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE download_range (
    key BLOB NOT NULL REFERENCES download (key) ON DELETE CASCADE,
    range_index INTEGER NOT NULL,
    offset_bytes INTEGER NOT NULL,
    length_bytes INTEGER NOT NULL,
    received_bytes INTEGER NOT NULL,
    received_crc64 INTEGER NOT NULL,
    boot_id TEXT NOT NULL,
    row_check INTEGER NOT NULL,
    PRIMARY KEY (key, range_index)
) STRICT, WITHOUT ROWID;

CREATE TABLE upload (
    key BLOB NOT NULL PRIMARY KEY,
    upload_id TEXT,
    part_size_bytes INTEGER NOT NULL,
    source_size_bytes INTEGER NOT NULL,
    source_modified_seconds INTEGER NOT NULL,
    source_modified_nanoseconds INTEGER NOT NULL,
    source_changed_seconds INTEGER NOT NULL,
    source_changed_nanoseconds INTEGER NOT NULL,
    source_inode INTEGER NOT NULL,
    source_device INTEGER NOT NULL,
    token TEXT NOT NULL,
    started_seconds INTEGER NOT NULL,
    started_nanoseconds INTEGER NOT NULL,
    row_check INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE upload_part (
    key BLOB NOT NULL REFERENCES upload (key) ON DELETE CASCADE,
    part_number INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    etag TEXT NOT NULL,
    crc64 INTEGER,
    row_check INTEGER NOT NULL,
    PRIMARY KEY (key, part_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE run (
    run_id INTEGER NOT NULL PRIMARY KEY,
    direction TEXT NOT NULL,
    started_seconds INTEGER NOT NULL,
    started_nanoseconds INTEGER NOT NULL,
    remote TEXT NOT NULL,
    outcome TEXT,
    duration_seconds REAL,
    transferred INTEGER,
    transferred_bytes INTEGER,
    resumed_bytes INTEGER,
    deleted INTEGER,
    renamed INTEGER,
    adopted INTEGER,
    unchanged INTEGER,
    conflicts INTEGER,
    failed INTEGER,
    skipped INTEGER,
    local_changes INTEGER,
    requests INTEGER,
    message TEXT,
    row_check INTEGER NOT NULL
) STRICT;

CREATE TABLE run_item (
    run_id INTEGER NOT NULL REFERENCES run (run_id) ON DELETE CASCADE,
    item_number INTEGER NOT NULL,
    key BLOB NOT NULL,
    action TEXT NOT NULL,
    state TEXT NOT NULL,
    message TEXT,
    row_check INTEGER NOT NULL,
    PRIMARY KEY (run_id, item_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE planned_deletion (
    run_id INTEGER NOT NULL REFERENCES run (run_id) ON DELETE CASCADE,
    side TEXT NOT NULL,
    key BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    etag TEXT,
    file_size_bytes INTEGER,
    file_modified_seconds INTEGER,
    file_modified_nanoseconds INTEGER,
    file_changed_seconds INTEGER,
    file_changed_nanoseconds INTEGER,
    file_inode INTEGER,
    file_device INTEGER,
    row_check INTEGER NOT NULL,
    PRIMARY KEY (run_id, side, key)
) STRICT, WITHOUT ROWID;
