internal import CSQLite

/// Owns one prepared statement.
///
/// Safe, because the handle never leaves this type, every value is copied in and out, and a
/// connection drops its statements before it closes.
@safe final class PreparedStatement {
    private let handle: OpaquePointer
    private let path: String

    /// Compiles the first statement of `text`, to be used many times.
    init(_ text: String, on connection: OpaquePointer, path: String) throws(ManifestError) {
        self.path = path
        var handle: OpaquePointer?
        ManifestError.forgetSystemError()
        let code = unsafe sqlite3_prepare_v3(
            connection,
            text,
            -1,
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &handle,
            nil
        )
        guard code == SQLITE_OK, let handle = unsafe handle else {
            throw unsafe ManifestError(code, "sqlite3_prepare_v3", on: connection, path: path)
        }
        unsafe self.handle = handle
    }

    deinit { unsafe sqlite3_finalize(handle) }

    /// Makes the statement ready for its next use and forgets what was bound.
    func reset() {
        // Both repeat or ignore the error of the last step, which was thrown already.
        unsafe sqlite3_reset(handle)
        unsafe sqlite3_clear_bindings(handle)
    }

    /// Binds `values` to the parameters from the first one on.
    func bind(_ values: [SQLValue]) throws(ManifestError) {
        var index: Int32 = 0
        for value in values {
            index += 1
            try check(bind(value, at: index), "sqlite3_bind")
        }
    }

    private func bind(_ value: SQLValue, at index: Int32) -> Int32 {
        switch value {
        case .null:
            return unsafe sqlite3_bind_null(handle, index)
        case .integer(let number):
            return unsafe sqlite3_bind_int64(handle, index, number)
        case .real(let number):
            return unsafe sqlite3_bind_double(handle, index, number)
        case .text(var text):
            // With its length: a text may hold a NUL byte.
            return text.withUTF8 { bytes in
                unsafe bytes.withMemoryRebound(to: CChar.self) { characters in
                    unsafe sqlite3_bind_text64(
                        handle,
                        index,
                        characters.baseAddress,
                        UInt64(characters.count),
                        osssync_sqlite_transient(),
                        UInt8(SQLITE_UTF8)
                    )
                }
            }
        case .blob(let bytes):
            // A null pointer would bind NULL instead of no bytes.
            guard !bytes.isEmpty else { return unsafe sqlite3_bind_zeroblob(handle, index, 0) }
            return unsafe bytes.withUnsafeBytes { buffer in
                unsafe sqlite3_bind_blob64(
                    handle,
                    index,
                    buffer.baseAddress,
                    UInt64(buffer.count),
                    osssync_sqlite_transient()
                )
            }
        }
    }

    /// Goes to the next row; false if there is none.
    func step() throws(ManifestError) -> Bool {
        ManifestError.forgetSystemError()
        let code = unsafe sqlite3_step(handle)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw unsafe ManifestError(code, "sqlite3_step", on: connection, path: path)
        }
    }

    var columnCount: Int { Int(unsafe sqlite3_column_count(handle)) }

    /// The value of a column, counted from 0, in the current row; a text that is not UTF-8 comes
    /// as a blob.
    func value(at index: Int) -> SQLValue {
        let index = Int32(index)
        switch unsafe sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_column_int64(handle, index))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_column_double(handle, index))
        case SQLITE_TEXT:
            let pointer = unsafe sqlite3_column_text(handle, index)
            let count = Int(unsafe sqlite3_column_bytes(handle, index))
            let bytes = unsafe UnsafeBufferPointer(start: pointer, count: count)
            let text = unsafe String(validating: bytes, as: UTF8.self)
            return unsafe text.map { .text($0) } ?? .blob([UInt8](bytes))
        case SQLITE_BLOB:
            return .blob(unsafe copy(sqlite3_column_blob(handle, index), at: index))
        default: return .null
        }
    }

    private func copy(_ pointer: UnsafeRawPointer?, at index: Int32) -> [UInt8] {
        // Asked for after the pointer, as SQLite's documentation demands.
        let count = Int(unsafe sqlite3_column_bytes(handle, index))
        return unsafe [UInt8](UnsafeRawBufferPointer(start: pointer, count: count))
    }

    private var connection: OpaquePointer? { unsafe sqlite3_db_handle(handle) }

    private func check(_ code: Int32, _ call: String) throws(ManifestError) {
        guard code != SQLITE_OK else { return }
        throw unsafe ManifestError(code, call, on: connection, path: path)
    }
}
