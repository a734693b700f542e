internal import CSQLite

/// The version of the SQLite that is linked, such as `SQLite 3.40.1`.
package var sqliteVersion: String {
    unsafe "SQLite " + String(cString: sqlite3_libversion())
}
