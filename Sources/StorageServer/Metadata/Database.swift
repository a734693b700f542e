internal import CSQLite

/// A value of SQL.
enum SQLValue {
    case null
    case integer(Int64)
    case text(String)
    case blob([UInt8])

    static func optional(_ text: String?) -> SQLValue { text.map { .text($0) } ?? .null }
    static func optional(_ number: Int64?) -> SQLValue { number.map { .integer($0) } ?? .null }
}

/// A connection to SQLite, for one thread at a time.
///
/// Safe, because handles never leave this file and rows are read only inside ``query(_:_:_:)``.
@safe final class Database {
    private let handle: OpaquePointer
    private var statements: [String: OpaquePointer] = unsafe [:]

    init(path: String) throws {
        var handle: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        let code = unsafe sqlite3_open_v2(path, &handle, flags, nil)
        guard code == SQLITE_OK, let handle = unsafe handle else {
            unsafe sqlite3_close_v2(handle)
            throw ServerFailure.database(call: "sqlite3_open_v2", code: code, message: path)
        }
        unsafe self.handle = handle
    }

    deinit {
        _ = unsafe statements.values.map { unsafe sqlite3_finalize($0) }
        unsafe sqlite3_close_v2(handle)
    }

    /// Runs one or more statements without parameters.
    func execute(_ sql: String) throws {
        let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw failure("sqlite3_exec", code) }
    }

    func run(_ sql: String, _ values: SQLValue...) throws {
        try query(sql, values) { _ in }
    }

    /// The results of `read` for every row.
    @discardableResult
    func query<Result>(
        _ sql: String,
        _ values: [SQLValue],
        _ read: (borrowing Row) throws -> Result
    ) throws -> [Result] {
        let statement = unsafe try prepared(sql)
        defer {
            unsafe sqlite3_reset(statement)
            unsafe sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            let code = unsafe bind(value, to: statement, at: Int32(index + 1))
            guard code == SQLITE_OK else { throw failure("sqlite3_bind", code) }
        }
        var results: [Result] = []
        while true {
            let code = unsafe sqlite3_step(statement)
            switch code {
            case SQLITE_ROW: unsafe results.append(try read(Row(statement: statement)))
            case SQLITE_DONE: return results
            default: throw failure("sqlite3_step", code)
            }
        }
    }

    func first<Result>(
        _ sql: String,
        _ values: [SQLValue],
        _ read: (borrowing Row) throws -> Result
    ) throws -> Result? {
        try query(sql, values, read).first
    }

    var lastInsertedID: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// Rolls back if `body` throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try run(Statements.begin)
        do {
            let result = try body()
            try run(Statements.commit)
            return result
        } catch {
            // The first error is the one to report; a failed rollback leaves nothing committed.
            try? run(Statements.rollback)
            throw error
        }
    }

    private func prepared(_ sql: String) throws -> OpaquePointer {
        if let known = unsafe statements[sql] { return unsafe known }
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
        guard code == SQLITE_OK, let statement = unsafe statement else {
            throw failure("sqlite3_prepare_v2", code)
        }
        unsafe statements[sql] = unsafe statement
        return unsafe statement
    }

    private func bind(_ value: SQLValue, to statement: OpaquePointer, at index: Int32) -> Int32 {
        switch value {
        case .null: return unsafe sqlite3_bind_null(statement, index)
        case .integer(let number): return unsafe sqlite3_bind_int64(statement, index, number)
        case .text(let text):
            let length = Int32(text.utf8.count)
            return unsafe sqlite3_bind_text(
                statement,
                index,
                text,
                length,
                osssync_sqlite_transient()
            )
        case .blob(let bytes):
            // A null pointer would bind NULL instead of an empty blob.
            guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(statement, index, 0) }
            return unsafe sqlite3_bind_blob(
                statement,
                index,
                bytes,
                Int32(bytes.count),
                osssync_sqlite_transient()
            )
        }
    }

    private func failure(_ call: String, _ code: Int32) -> ServerFailure {
        let message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? ""
        return .database(call: call, code: code, message: message)
    }
}

/// The columns of the current row, counted from 0.
@safe struct Row: ~Copyable {
    private let statement: OpaquePointer

    fileprivate init(statement: OpaquePointer) {
        unsafe self.statement = statement
    }

    func isNull(_ column: Int32) -> Bool {
        unsafe sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    func integer(_ column: Int32) -> Int64 {
        unsafe sqlite3_column_int64(statement, column)
    }

    func optionalInteger(_ column: Int32) -> Int64? {
        isNull(column) ? nil : integer(column)
    }

    func bytes(_ column: Int32) -> [UInt8] {
        guard let start = unsafe sqlite3_column_blob(statement, column) else { return [] }
        let count = unsafe sqlite3_column_bytes(statement, column)
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: Int(count)))
    }

    func text(_ column: Int32) -> String {
        guard let start = unsafe sqlite3_column_blob(statement, column) else { return "" }
        let count = unsafe sqlite3_column_bytes(statement, column)
        let bytes = unsafe UnsafeRawBufferPointer(start: start, count: Int(count))
        return unsafe String(decoding: bytes, as: UTF8.self)
    }

    func optionalText(_ column: Int32) -> String? {
        isNull(column) ? nil : text(column)
    }
}
