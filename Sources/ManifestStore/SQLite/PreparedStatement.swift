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
        // Found once for all that is asked of it; only another thread could change it meanwhile,
        // and a connection has none.
        let value = unsafe sqlite3_column_value(handle, Int32(index))
        switch unsafe sqlite3_value_type(value) {
        case SQLITE_INTEGER: return .integer(unsafe sqlite3_value_int64(value))
        case SQLITE_FLOAT: return .real(unsafe sqlite3_value_double(value))
        case SQLITE_TEXT:
            let bytes = unsafe Self.bytes(sqlite3_value_text(value), of: value)
            return unsafe Self.text(bytes).map { .text($0) } ?? .blob([UInt8](bytes))
        case SQLITE_BLOB:
            return .blob(unsafe [UInt8](Self.bytes(sqlite3_value_blob(value), of: value)))
        default: return .null
        }
    }

    private static func bytes(
        _ pointer: UnsafeRawPointer?,
        of value: OpaquePointer?
    ) -> UnsafeRawBufferPointer {
        // Asked for after the pointer, as SQLite's documentation demands.
        let count = Int(unsafe sqlite3_value_bytes(value))
        return unsafe UnsafeRawBufferPointer(start: pointer, count: count)
    }

    /// Nil if the bytes, behind which is a NUL, are not UTF-8.
    private static func text(_ bytes: UnsafeRawBufferPointer) -> String? {
        // Only this way is made for bytes; the other, for a text with a NUL, takes a thousand
        // instructions more.
        if let start = unsafe bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
            let text = unsafe String(validatingCString: start), text.utf8.count == bytes.count
        {
            return text
        }
        return unsafe String(validating: bytes, as: UTF8.self)
    }

    private var connection: OpaquePointer? { unsafe sqlite3_db_handle(handle) }

    private func check(_ code: Int32, _ call: String) throws(ManifestError) {
        guard code != SQLITE_OK else { return }
        throw unsafe ManifestError(code, call, on: connection, path: path)
    }
}
