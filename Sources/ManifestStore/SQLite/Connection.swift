internal import CSQLite
internal import SyncModel

/// Owns one connection to a database, with its statements compiled once.
///
/// Safe, because the handle never leaves this type and its statements. Not `Sendable`: it is used
/// by one thread at a time, which the store's queue sees to, so SQLite's own locks are left out.
@safe final class Connection {
    enum Mode: Sendable {
        case readWrite
        /// Creates the file if it is missing.
        case create
        /// Reads the main file alone, without its log and without a lock.
        case immutable
        /// Reads the main file and its log; writes nothing, not even the index of the log.
        case readOnly
        case inMemory
    }

    let path: String
    private let handle: OpaquePointer
    private var statements: [Query: PreparedStatement] = [:]
    private var upserts: [Table: PreparedStatement] = [:]

    // Without `hasLocks` the caller excludes others, because the file system has no locks.
    init(path: String, mode: Mode, hasLocks: Bool = true) throws(ManifestError) {
        self.path = path
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var name = Self.absolute(path)
        switch mode {
        case .readWrite: flags |= SQLITE_OPEN_READWRITE
        case .create: flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        case .immutable:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = Self.uri(name, "immutable=1")
        case .readOnly:
            flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            name = Self.uri(name, "readonly_shm=1")
        case .inMemory:
            flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY
            name = ":memory:"
        }
        var opened: OpaquePointer?
        ManifestError.forgetSystemError()
        let code = unsafe sqlite3_open_v2(name, &opened, flags, hasLocks ? nil : "unix-none")
        guard let handle = unsafe opened else {
            throw .unusable(path: path, reason: "SQLite has no memory left")
        }
        unsafe self.handle = handle
        guard code == SQLITE_OK else {
            // `deinit` closes it: all properties are set.
            throw unsafe ManifestError(code, "sqlite3_open_v2", on: handle, path: path)
        }
        try harden()
    }

    deinit {
        (statements, upserts) = ([:], [:])
        unsafe sqlite3_close_v2(handle)
    }

    /// Moves the log into the main file, so that a failure is seen before `deinit` closes.
    ///
    /// While another process reads, the log stays for the next opening, and nothing is lost.
    func emptyLog() throws(ManifestError) {
        (statements, upserts) = ([:], [:])
        try check(unsafe sqlite3_busy_timeout(handle, 0), "sqlite3_busy_timeout")
        ManifestError.forgetSystemError()
        let code = unsafe sqlite3_wal_checkpoint_v2(
            handle,
            nil,
            SQLITE_CHECKPOINT_TRUNCATE,
            nil,
            nil
        )
        guard code & 0xFF != SQLITE_BUSY else { return }
        try check(code, "sqlite3_wal_checkpoint_v2")
    }

    /// The version of SQLite's format that a writer of the main file has to know, as its header
    /// says it; nil if it cannot be read.
    ///
    /// Read through SQLite's own descriptor: to close another one would drop the locks of every
    /// connection of this process.
    var writeVersion: UInt8? {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = unsafe withUnsafeMutablePointer(to: &file) { pointer in
            unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, pointer)
        }
        guard code == SQLITE_OK, let file = unsafe file,
            let methods = unsafe file.pointee.pMethods, let read = unsafe methods.pointee.xRead
        else { return nil }
        var byte: UInt8 = 0
        let result = unsafe read(file, &byte, 1, Self.writeVersionOffset)
        return result == SQLITE_OK ? byte : nil
    }

    /// True if nothing can be written, whether the file system or the header is to blame.
    var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

    /// True if the header names a format that no SQLite writes: it would be read-only for ever.
    var isOfUnknownFormat: Bool { writeVersion.map { $0 > Self.newestWriteVersion } ?? false }

    private static let writeVersionOffset: Int64 = 18
    /// Of a database with a log; 1 is with a journal.
    private static let newestWriteVersion: UInt8 = 2

    /// Keeps closing from moving the log into the main file: for a database that is not ours to
    /// change.
    func leavesLogOnClose(_ leaves: Bool) throws(ManifestError) {
        try configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, leaves)
    }

    /// A manifest may come from a shared disk: nothing in it may run, and nothing in it may be
    /// larger than what we write.
    private func harden() throws(ManifestError) {
        try configure(SQLITE_DBCONFIG_DEFENSIVE, true)
        try configure(SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)
        try configure(SQLITE_DBCONFIG_ENABLE_TRIGGER, false)
        try configure(SQLITE_DBCONFIG_ENABLE_VIEW, false)
        try configure(SQLITE_DBCONFIG_DQS_DML, false)
        try configure(SQLITE_DBCONFIG_DQS_DDL, false)
        try configure(SQLITE_DBCONFIG_ENABLE_FKEY, true)
        let limits: [(Int32, Int32)] = [
            (SQLITE_LIMIT_LENGTH, 1 << 20), (SQLITE_LIMIT_ATTACHED, 0),
            (SQLITE_LIMIT_SQL_LENGTH, 1 << 16), (SQLITE_LIMIT_EXPR_DEPTH, 100),
        ]
        for (limit, value) in limits { unsafe sqlite3_limit(handle, limit, value) }
        // `status` may read while a run writes.
        try check(unsafe sqlite3_busy_timeout(handle, 5_000), "sqlite3_busy_timeout")
    }

    /// True for SQLite's codes of calls on files that failed.
    static func isFailureOfDisk(_ code: Int) -> Bool { code & 0xFF == Int(SQLITE_IOERR) }

    private func configure(_ option: Int32, _ value: Bool) throws(ManifestError) {
        try check(
            unsafe osssync_sqlite_db_config(handle, option, value ? 1 : 0),
            "sqlite3_db_config"
        )
    }

    private func check(_ code: Int32, _ call: String) throws(ManifestError) {
        guard code != SQLITE_OK else { return }
        throw unsafe ManifestError(code, call, on: handle, path: path)
    }

    /// A path that begins with "file:" would be read as a URI.
    private static func absolute(_ path: String) -> String {
        path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
    }

    /// Runs `body` with another database beside this one, under the name `source`.
    func attaching<Result>(
        _ path: String,
        _ body: () throws(ManifestError) -> Result
    ) throws(ManifestError) -> Result {
        _ = unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1)
        defer { _ = unsafe sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0) }
        try execute("ATTACH ? AS source", [.text(path)])
        defer { _ = try? execute("DETACH source") }
        return try body()
    }

    private static func uri(_ path: String, _ parameter: String) -> String {
        var text: [UInt8] = []
        for byte in path.utf8 {
            let isPlain = byte.isLetterOrDigit(or: "/.-_")
            if isPlain { text.append(byte) } else { text.append(escaping: byte) }
        }
        return "file:" + String(decoding: text, as: UTF8.self) + "?" + parameter
    }
}

extension Connection {
    /// Runs a statement of `Statements.swift` and hands each row to `body`.
    func forEachRow(
        _ query: Query,
        _ values: [SQLValue],
        _ body: (PreparedStatement) throws(ManifestError) -> Void
    ) throws(ManifestError) {
        let statement = try prepared(query)
        defer { statement.reset() }
        try statement.bind(values)
        while try statement.step() { try body(statement) }
    }

    /// Runs a statement of `Statements.swift` that has no rows.
    func run(_ query: Query, _ values: [SQLValue] = []) throws(ManifestError) {
        try forEachRow(query, values) { _ in }
    }

    /// Reads the rows that a statement finds.
    func rows<Value: Row>(
        _ query: Query,
        _ values: [SQLValue]
    ) throws(ManifestError) -> [Value] {
        let statement = try prepared(query)
        defer { statement.reset() }
        try statement.bind(values)
        var columns = RowCoder(Value.table, reading: statement)
        var rows: [Value] = []
        while try statement.step() { rows.append(try columns.read()) }
        return rows
    }

    /// Reads a row, if there is one, by a statement that is told how many it finds.
    func row<Value: Row>(_ query: Query, _ key: [SQLValue]) throws(ManifestError) -> Value? {
        let found: [Value] = try rows(query, key + [.integer(1)])
        return found.first
    }

    /// Writes a row, in place of an earlier one.
    func upsert(_ row: some Row) throws(ManifestError) {
        try upsert(try row.values, into: type(of: row).table)
    }

    /// Writes a row of these values, the checksum included.
    func upsert(_ values: [SQLValue], into table: Table) throws(ManifestError) {
        let statement = try preparedUpsert(table)
        defer { statement.reset() }
        try statement.bind(values)
        _ = try statement.step()
    }

    /// Rows that the last statement changed.
    var changeCount: Int { Int(unsafe sqlite3_changes(handle)) }

    /// The only column of the first row, nil if there is no row.
    func firstValue(_ query: Query, _ values: [SQLValue] = []) throws(ManifestError) -> SQLValue? {
        let statement = try prepared(query)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.value(at: 0) : nil
    }

    /// Runs a statement of `Schema.swift` once; the values of every row.
    @discardableResult
    func execute(
        _ text: String,
        _ values: [SQLValue] = []
    ) throws(ManifestError) -> [[SQLValue]] {
        let statement = unsafe try PreparedStatement(text, on: handle, path: path)
        try statement.bind(values)
        var rows: [[SQLValue]] = []
        while try statement.step() {
            rows.append((0..<statement.columnCount).map { statement.value(at: $0) })
        }
        return rows
    }

    private func prepared(_ query: Query) throws(ManifestError) -> PreparedStatement {
        if let statement = statements[query] { return statement }
        let statement = unsafe try PreparedStatement(query.text, on: handle, path: path)
        statements[query] = statement
        return statement
    }

    private func preparedUpsert(_ table: Table) throws(ManifestError) -> PreparedStatement {
        if let statement = upserts[table] { return statement }
        let statement = unsafe try PreparedStatement(table.upsert, on: handle, path: path)
        upserts[table] = statement
        return statement
    }

    /// Runs `body` in one transaction: all of it happens or nothing.
    func transaction<Result>(
        _ body: () throws(ManifestError) -> Result
    ) throws(ManifestError) -> Result {
        try run(.begin)
        do {
            let result = try body()
            try run(.advanceGeneration)
            try run(.commit)
            return result
        } catch {
            rollBack()
            throw error
        }
    }

    /// Ends a transaction that failed.
    func rollBack() {
        // SQLite has rolled back by itself after some errors, and a failed rollback leaves the
        // transaction to be discarded when the database is opened next.
        guard unsafe sqlite3_get_autocommit(handle) == 0 else { return }
        try? run(.rollback)
    }
}
