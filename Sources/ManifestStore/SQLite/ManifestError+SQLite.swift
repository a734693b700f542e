internal import CLibrary
internal import CSQLite

extension ManifestError {
    /// `SQLITE_IOERR_SHORT_READ`, a macro that is not imported.
    private static let shortRead = SQLITE_IOERR | 2 << 8

    /// Classifies a result code of SQLite: the one place that decides what counts as damage.
    ///
    /// Comes right after the call that failed, and that one after ``forgetSystemError()``.
    init(_ code: Int32, _ call: String, on connection: OpaquePointer?, path: String) {
        let last = errno
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
        case SQLITE_READONLY:
            self = .unusable(path: path, reason: "it cannot be written: \(detail)")
        case SQLITE_CONSTRAINT:
            self = .rejected(detail)
        case SQLITE_IOERR, SQLITE_CANTOPEN:
            let number = unsafe Self.systemError(connection, last: last)
            switch number {
            case _ where code == Self.shortRead: self = .damaged(path: path, detail: detail)
            case ENOSPC: self = .diskFull(path: path)
            case EDQUOT: self = .quotaExceeded(path: path)
            case 0: self = .unusable(path: path, reason: detail)
            default: self = .unusable(path: path, reason: "\(systemMessage(number)): \(detail)")
            }
        default:
            self = .unusable(path: path, reason: detail)
        }
    }

    /// For the time before a call, so that the system's error afterwards is that call's.
    static func forgetSystemError() { errno = 0 }

    /// The system's error behind one of SQLite's; 0 if it is not known.
    ///
    /// SQLite keeps none of a commit that failed, and of a file that it could not make only that it
    /// was not there to be read either.
    private static func systemError(_ connection: OpaquePointer?, last: Int32) -> Int32 {
        let kept = unsafe connection == nil ? 0 : sqlite3_system_errno(connection)
        let number = kept == 0 ? last : kept
        return number == ENOENT ? 0 : number
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
