#ifndef OSSSYNC_CSQLITE_SHIM_H
#define OSSSYNC_CSQLITE_SHIM_H

#include <sqlite3.h>

/// `SQLITE_TRANSIENT` is a cast that the importer drops: SQLite copies the bytes before returning.
static inline sqlite3_destructor_type osssync_sqlite_transient(void) { return SQLITE_TRANSIENT; }

/// `sqlite3_db_config` is variadic; this is its form for the switches that take an integer.
static inline int osssync_sqlite_db_config(sqlite3 *db, int option, int value) {
    return sqlite3_db_config(db, option, value, (int *)0);
}

#endif
