#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

void check_sqlite(void) {
    virtual_files_reset();
    mkdir("/virtual/d", 0755);
    sqlite3 *database;
    int code = sqlite3_open_v2(
        "/virtual/d/x.db", &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(
            database, "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)",
            NULL, NULL, NULL);
    }
    struct stat status;
    bool has_log = stat("/virtual/d/x.db-wal", &status) == 0 && status.st_size > 0;
    check_case("SQLite works on the virtual disk", code == SQLITE_OK && has_log);
    sqlite3_close(database);
    check_case("nothing stays open", virtual_files_open_descriptors() == 0);
}
#endif
