// SQLite on the virtual disk, cut off at every call.
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRANSACTIONS = 10 };

struct scene {
    const char *name;
    const char *settings;
    bool exclusive;
    /// How many of the last commits a power cut may undo: all if negative.
    int may_lose;
};

static const struct scene scenes[] = {
    {"log, FULL", "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", false, 0},
    {"log, NORMAL", "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL", false, -1},
    {"exclusive log, FULL", "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL", true, 0},
    // The removal of the journal, which is the commit, is not synced.
    {"journal, FULL", "PRAGMA journal_mode = DELETE; PRAGMA synchronous = FULL", true, 1},
    {"journal, EXTRA", "PRAGMA journal_mode = DELETE; PRAGMA synchronous = EXTRA", false, 0},
};

struct crash {
    /// The call before which the process dies.
    uint64_t at;
    bool has_happened;
};

static int die(void *context, const struct virtual_files_call *call) {
    struct crash *crash = context;
    if (call->number < crash->at) return 0;
    crash->has_happened = true;
    virtual_files_freeze();
    return 0;
}

static bool run(sqlite3 *database, const char *statement) {
    return sqlite3_exec(database, statement, NULL, NULL, NULL) == SQLITE_OK;
}

/// What all connections want; the log is moved into the database every few transactions.
static sqlite3 *open_database(const struct scene *scene) {
    sqlite3 *database;
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    sqlite3_open_v2("/virtual/state/manifest.db", &database, flags, NULL);
    if (scene->exclusive) run(database, "PRAGMA locking_mode = EXCLUSIVE");
    run(database, "PRAGMA mmap_size = 0; PRAGMA wal_autocheckpoint = 12; PRAGMA cache_size = 8");
    return database;
}

/// Makes the database and writes to it until the end or the crash; the number of commits, counting
/// the one that makes the table, that SQLite said were done.
static int write_transactions(const struct scene *scene, sqlite3 **database) {
    *database = open_database(scene);
    if (!run(*database, scene->settings)) return 0;
    if (!run(*database, "CREATE TABLE t (a INTEGER PRIMARY KEY, n INTEGER, b BLOB)")) return 0;
    int done = 1;
    for (int n = 1; n <= TRANSACTIONS; n++) {
        char statement[300];
        snprintf(
            statement, sizeof statement,
            "BEGIN; INSERT INTO t SELECT value, %d, zeroblob(1500) FROM "
            "(WITH RECURSIVE c(value) AS (VALUES(%d) UNION ALL SELECT value + 1 FROM c LIMIT 5) "
            "SELECT * FROM c); UPDATE t SET b = randomblob(1500) WHERE a %% 7 = %d; COMMIT",
            n, n * 10, n % 7);
        if (!run(*database, statement)) break;
        done++;
    }
    return done;
}

/// The commits that are there, of which each one has all its rows; -1 if the database is damaged.
static int count_transactions(sqlite3 *database) {
    sqlite3_stmt *statement = NULL;
    int count = -1;
    if (sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, NULL) != SQLITE_OK) {
        return -1;
    }
    bool is_sound = sqlite3_step(statement) == SQLITE_ROW
        && strcmp((const char *)sqlite3_column_text(statement, 0), "ok") == 0;
    sqlite3_finalize(statement);
    if (!is_sound) return -1;
    if (sqlite3_prepare_v2(
            database, "SELECT count(DISTINCT n), count(*), ifnull(max(n), 0) FROM t", -1,
            &statement, NULL) != SQLITE_OK) return 0;
    if (sqlite3_step(statement) == SQLITE_ROW) {
        int transactions = sqlite3_column_int(statement, 0);
        bool is_whole = sqlite3_column_int(statement, 1) == 5 * transactions
            && sqlite3_column_int(statement, 2) == transactions;
        if (is_whole) count = 1 + transactions;
    }
    sqlite3_finalize(statement);
    return count;
}

struct outcome {
    bool is_over, is_right;
    int done, found;
    uint64_t hash;
};

static struct outcome crash_at(
    const struct scene *scene, uint64_t call, enum virtual_files_reboot_kind kind, uint64_t seed
) {
    struct crash crash = {call, false};
    struct outcome outcome = {0};
    virtual_files_reset();
    virtual_files_reclaim();
    virtual_files_set_time(1700000000, 5);
    virtual_files_set_clock(true);
    virtual_files_set_entropy(9);
    sqlite3_randomness(0, NULL);
    mkdir("/virtual/state", 0755);
    int directory = open("/virtual", O_RDONLY | O_DIRECTORY);
    fsync(directory);
    close(directory);
    virtual_files_set_hook(die, &crash);
    sqlite3 *dead;
    outcome.done = write_transactions(scene, &dead);
    outcome.is_over = !crash.has_happened;
    virtual_files_set_hook(NULL, NULL);
    virtual_files_reboot(kind, seed, (enum virtual_files_power_mode)(seed % 3));
    outcome.hash = virtual_files_durability_hash();
    // The dead process's connection is still there, and must not be in the way.
    sqlite3 *database = open_database(scene);
    outcome.found = count_transactions(database);
    sqlite3_close(database);
    sqlite3_close(dead);
    virtual_files_set_clock(false);
    virtual_files_clear_entropy();
    int least = outcome.done;
    if (kind == VIRTUAL_FILES_POWER) {
        least = scene->may_lose < 0 ? 0 : outcome.done - scene->may_lose;
    }
    outcome.is_right = outcome.found >= least && outcome.found >= 0
        && outcome.found <= outcome.done + 1 && virtual_files_open_descriptors() == 0;
    return outcome;
}

static void check_scene(
    const struct scene *scene, enum virtual_files_reboot_kind kind, uint64_t stride, uint64_t seeds
) {
    bool is_right = true;
    bool loses = false;
    bool is_over = false;
    uint64_t call = 1;
    for (; is_right && !is_over; call += stride) {
        for (uint64_t seed = call * 31; seed < call * 31 + seeds && is_right; seed++) {
            struct outcome outcome = crash_at(scene, call, kind, seed);
            is_right = outcome.is_right;
            is_over = outcome.is_over;
            loses |= outcome.found < outcome.done;
            if (is_right) continue;
            printf(
                "%s: killed before call %lu, seed %lu: %d commits, found %d\n", scene->name, call,
                seed, outcome.done, outcome.found);
        }
    }
    char sentence[200];
    bool is_power = kind == VIRTUAL_FILES_POWER;
    snprintf(
        sentence, sizeof sentence, "SQLite (%s) survives %s at each call (%lu)", scene->name,
        is_power ? "a power cut" : "a kill", call);
    check_case(sentence, is_right);
    if (is_power && scene->may_lose < 0) {
        check_case("commits that were not synced can be lost", loses);
    }
}

void check_sqlite(uint64_t stride, uint64_t seeds) {
    for (size_t i = 0; i < sizeof scenes / sizeof scenes[0]; i++) {
        check_scene(&scenes[i], VIRTUAL_FILES_PROCESS, stride, 1);
        check_scene(&scenes[i], VIRTUAL_FILES_POWER, stride, seeds);
    }
    struct outcome first = crash_at(&scenes[0], 200, VIRTUAL_FILES_POWER, 5);
    struct outcome again = crash_at(&scenes[0], 200, VIRTUAL_FILES_POWER, 5);
    struct outcome other = crash_at(&scenes[0], 200, VIRTUAL_FILES_POWER, 8);
    check_case("the same seed gives the same disk", first.hash == again.hash);
    check_case("another seed gives another disk", first.hash != other.hash);
}
#endif
