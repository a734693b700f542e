internal import CSQLite

#if canImport(Glibc)
internal import Glibc
#else
internal import Darwin
#endif

extension ManifestError {
    /// `SQLITE_IOERR_SHORT_READ`, a macro that is not imported.
    private static let shortRead = SQLITE_IOERR | 2 << 8

    /// Classifies a result code of SQLite: the one place that decides what counts as damage.
    init(_ code: Int32, _ call: String, on connection: OpaquePointer?, path: String) {
        let detail = unsafe Self.detail(code, call, connection)
        switch code & 0xFF {
        case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_TOOBIG, SQLITE_FORMAT:
            self = .damaged(path: path, detail: detail)
        case SQLITE_ERROR where detail.utf8.starts(with: "unsupported file format".utf8):
            // A header that names a format of the schema which no SQLite has.
            self = .damaged(path: path, detail: detail)
        case SQLITE_FULL:
            self = .diskFull(path: path)
        case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL:
            self = .inUse(path: path)
        case SQLITE_CONSTRAINT:
            self = .rejected(detail)
        case SQLITE_IOERR:
            let number = unsafe connection == nil ? 0 : sqlite3_system_errno(connection)
            if code == Self.shortRead {
                self = .damaged(path: path, detail: detail)
            } else if number == ENOSPC || number == EDQUOT {
                self = .diskFull(path: path)
            } else {
                self = .unusable(path: path, reason: detail)
            }
        default:
            self = .unusable(path: path, reason: detail)
        }
    }

    private static func detail(
        _ code: Int32,
        _ call: String,
        _ connection: OpaquePointer?
    ) -> String {
        let text =
            if let connection = unsafe connection {
                unsafe String(cString: sqlite3_errmsg(connection))
            } else {
                unsafe String(cString: sqlite3_errstr(code))
            }
        return "\(text) (\(call), code \(code))"
    }
}
