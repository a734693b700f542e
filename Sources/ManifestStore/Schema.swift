/// The tables of the manifest and how older ones become the current ones.
///
/// A migration that was released is never edited: `docs/manifest.md` explains the columns.
struct Schema: Sendable {
    /// The statements that lead from the version before to this one.
    struct Migration: Sendable {
        let statements: [String]
        /// True if each statement makes one table or index, and SQLite no index of its own for it.
        var makesOnlyObjects = false
    }

    /// The first one makes version 1 of an empty database, and so on.
    let migrations: [Migration]

    var version: Int64 { Int64(migrations.count) }

    static let current = Schema(migrations: [version1])

    /// "OSSY" in the file's header: the file is a manifest.
    static let applicationID: Int64 = 0x4F53_5359

    static let readApplicationID = "PRAGMA application_id"
    static let readVersion = "PRAGMA user_version"
    static let writeApplicationID = "PRAGMA application_id = 1330860889"
    /// All objects of the database, to compare with those that the migrations make.
    static let readObjects = """
        SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name
        """
    static let checkThoroughly = "PRAGMA integrity_check(1)"
    static let checkQuickly = "PRAGMA quick_check(1)"
    static let pageCount = "PRAGMA page_count"
    static let pageSize = "PRAGMA page_size"

    static let useWriteAheadLog = "PRAGMA journal_mode = WAL"
    static let useRollbackJournal = "PRAGMA journal_mode = DELETE"
    static let useMemoryJournal = "PRAGMA journal_mode = MEMORY"
    /// Commits survive a kill; a power cut may take the last ones, but never their order.
    static let synchronizeAtCheckpoints = "PRAGMA synchronous = NORMAL"
    static let synchronizeAtCommits = "PRAGMA synchronous = FULL"
    static let synchronizeNever = "PRAGMA synchronous = OFF"
    static let readSynchronous = "PRAGMA synchronous"
    static let lockExclusively = "PRAGMA locking_mode = EXCLUSIVE"
    static let lockNormally = "PRAGMA locking_mode = NORMAL"

    static let releaseMemory = "PRAGMA shrink_memory"

    /// What every connection wants besides the journal.
    static let settings = [
        "PRAGMA cell_size_check = ON",
        // Never mapped: a read error must be an error and not a signal.
        "PRAGMA mmap_size = 0",
        "PRAGMA cache_size = -8192",
        "PRAGMA secure_delete = OFF",
        "PRAGMA temp_store = MEMORY",
        // 16 MiB of log before it is moved into the main file, and as much kept afterwards.
        "PRAGMA wal_autocheckpoint = 4096",
        "PRAGMA journal_size_limit = 16777216",
    ]

    /// The number of a version can't be a parameter of the pragma that sets it.
    static func writeVersion(_ version: Int64) -> String { "PRAGMA user_version = \(version)" }
}

extension Schema {
    /// Runs the migrations from `version` on; the caller has begun a transaction.
    func migrate(_ connection: Connection, from version: Int64) throws(ManifestError) {
        for migration in migrations.dropFirst(Int(version)) {
            for statement in migration.statements { try connection.execute(statement) }
        }
        try connection.execute(Self.writeVersion(self.version))
    }

    /// What `sqlite_schema` holds in a sound database of `version`.
    func objects(ofVersion version: Int64) throws(ManifestError) -> [[SQLValue]] {
        let schema = Schema(migrations: Array(migrations.prefix(Int(version))))
        if schema.migrations.allSatisfy({ $0.makesOnlyObjects }) {
            return Self.objects(madeBy: schema.migrations.flatMap(\.statements))
        }
        let connection = try Connection(path: ":memory:", mode: .inMemory)
        try schema.migrate(connection, from: 0)
        return try connection.execute(Self.readObjects)
    }

    /// Tables and indexes as `sqlite_schema` holds them: each in the words of the statement that
    /// makes it.
    ///
    /// To make them in an empty database costs more than the rest of an opening.
    private static func objects(madeBy statements: [String]) -> [[SQLValue]] {
        statements.map { statement in
            let words = statement.split(separator: " ", maxSplits: 5).map(String.init)
            let isIndex = words[1] == "INDEX"
            return (isIndex ? "index" : "table", words[2], isIndex ? words[4] : words[2], statement)
        }
        .sorted { ($0.0, $0.1) < ($1.0, $1.1) }
        .map { [.text($0.0), .text($0.1), .text($0.2), .text($0.3)] }
    }

    private static let version1 = Migration(
        statements: [
            store, setting, entry, entryBySize, entryByInode, entrySample, entryDamaged,
            entryDamagedBySize, sentParts, comparison, download, downloadRange, downloadSeal,
            upload, uploadPart, run, runItem, plannedDeletion,
        ],
        makesOnlyObjects: true
    )

    private static let store = """
        CREATE TABLE store (
            number INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
            identity BLOB NOT NULL CHECK (length(identity) = 16),
            generation INTEGER NOT NULL
        ) STRICT
        """

    fileprivate static let setting = """
        CREATE TABLE setting (
            name TEXT NOT NULL PRIMARY KEY,
            value TEXT NOT NULL,
            row_check INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let entry = """
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
            changed_nanoseconds INTEGER,
            marks INTEGER NOT NULL,
            row_check INTEGER NOT NULL,
            is_sample INTEGER NOT NULL,
            is_searchable INTEGER
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let comparison = """
        CREATE TABLE comparison (
            key BLOB NOT NULL PRIMARY KEY,
            size_bytes INTEGER NOT NULL,
            etag TEXT NOT NULL,
            crc64 INTEGER NOT NULL,
            row_check INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """

    /// Goes with its entry.
    fileprivate static let sentParts = """
        CREATE TABLE sent_parts (
            key BLOB NOT NULL PRIMARY KEY REFERENCES entry (key) ON DELETE CASCADE,
            etag TEXT NOT NULL,
            size_bytes INTEGER NOT NULL,
            part_size_bytes INTEGER NOT NULL,
            contents BLOB NOT NULL,
            row_check INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """

    /// Contents are looked up only where that saves more than requests: see decision 19.
    private static let entryBySize = """
        CREATE INDEX entry_by_size ON entry (size_bytes, etag) WHERE is_searchable = 1
        """

    private static let entryByInode = """
        CREATE INDEX entry_by_inode ON entry (inode, size_bytes)
        WHERE is_searchable = 1 AND inode <> 0
        """

    private static let entryDamaged = """
        CREATE INDEX entry_damaged ON entry (key) WHERE marks & 16 <> 0
        """

    private static let entryDamagedBySize = """
        CREATE INDEX entry_damaged_by_size ON entry (size_bytes) WHERE marks & 16 <> 0
        """

    /// With the flag as a column, because SQLite would look for it in the table otherwise.
    private static let entrySample = """
        CREATE INDEX entry_sample ON entry (key, is_sample) WHERE is_sample = 1
        """

    fileprivate static let download = """
        CREATE TABLE download (
            key BLOB NOT NULL PRIMARY KEY,
            size_bytes INTEGER NOT NULL,
            etag TEXT NOT NULL,
            crc64 INTEGER,
            partial_name TEXT NOT NULL,
            range_size_bytes INTEGER NOT NULL,
            row_check INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let downloadRange = """
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
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let downloadSeal = """
        CREATE TABLE download_seal (
            key BLOB NOT NULL PRIMARY KEY REFERENCES download (key) ON DELETE CASCADE,
            partial_size_bytes INTEGER NOT NULL,
            partial_modified_seconds INTEGER NOT NULL,
            partial_modified_nanoseconds INTEGER NOT NULL,
            partial_changed_seconds INTEGER NOT NULL,
            partial_changed_nanoseconds INTEGER NOT NULL,
            partial_inode INTEGER NOT NULL,
            partial_device INTEGER NOT NULL,
            row_check INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let upload = """
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
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let uploadPart = """
        CREATE TABLE upload_part (
            key BLOB NOT NULL REFERENCES upload (key) ON DELETE CASCADE,
            part_number INTEGER NOT NULL,
            size_bytes INTEGER NOT NULL,
            etag TEXT NOT NULL,
            crc64 INTEGER,
            row_check INTEGER NOT NULL,
            PRIMARY KEY (key, part_number)
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let run = """
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
            vanished INTEGER,
            bytes_in_both INTEGER,
            message TEXT,
            paths TEXT,
            row_check INTEGER NOT NULL
        ) STRICT
        """

    fileprivate static let runItem = """
        CREATE TABLE run_item (
            run_id INTEGER NOT NULL REFERENCES run (run_id) ON DELETE CASCADE,
            item_number INTEGER NOT NULL,
            key BLOB NOT NULL,
            action TEXT NOT NULL,
            state TEXT NOT NULL,
            message TEXT,
            row_check INTEGER NOT NULL,
            PRIMARY KEY (run_id, item_number)
        ) STRICT, WITHOUT ROWID
        """

    fileprivate static let plannedDeletion = """
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
        ) STRICT, WITHOUT ROWID
        """
}

extension Table {
    var columns: Columns { Columns(of: definition) }

    /// The statement that makes the table.
    private var definition: String {
        switch self {
        case .setting: Schema.setting
        case .entry: Schema.entry
        case .sentParts: Schema.sentParts
        case .comparison: Schema.comparison
        case .download: Schema.download
        case .downloadRange: Schema.downloadRange
        case .downloadSeal: Schema.downloadSeal
        case .upload: Schema.upload
        case .uploadPart: Schema.uploadPart
        case .run: Schema.run
        case .runItem: Schema.runItem
        case .plannedDeletion: Schema.plannedDeletion
        }
    }
}
