// What a simulation does to the disk: disturb calls, kill, copy, and limit it.
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static int make(const char *path) { return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644); }

// MARK: - Hooks

struct script {
    /// What to answer to the next calls of this name.
    const char *name;
    int answer;
    char last[32];
    int64_t bytes;
    bool changes;
    int calls;
};

static int play(void *context, const struct virtual_files_call *call) {
    struct script *script = context;
    script->calls++;
    snprintf(script->last, sizeof script->last, "%s", call->name);
    script->bytes = call->bytes;
    script->changes = call->changes;
    // A hook that looks at the disk does not watch itself.
    struct stat status;
    stat("/virtual/f", &status);
    return strcmp(call->name, script->name) == 0 ? script->answer : 0;
}

static void check_hooks(void) {
    virtual_files_reset();
    int file = make("/virtual/f");
    struct script script = {.name = "pwrite", .answer = EDQUOT};
    virtual_files_set_hook(play, &script);
    ssize_t result = pwrite(file, "abc", 3, 0);
    check_case("a hook fails a call", result == -1 && errno == EDQUOT);
    check_case("a call is described", script.bytes == 3 && script.changes && script.calls == 1);
    script.answer = -2;
    check_case("a hook shortens a write", pwrite(file, "abc", 3, 0) == 2);
    script.name = "pread";
    script.answer = -1;
    char byte[4];
    check_case("a hook shortens a read", pread(file, byte, 4, 0) == 1 && byte[0] == 'a');
    check_case("a read changes nothing", !script.changes);
    virtual_files_set_hook_enabled(false);
    uint64_t before = virtual_files_get_counts().calls;
    bool is_whole = pread(file, byte, 4, 0) == 2;
    check_case("a hook can be passed by", is_whole && virtual_files_get_counts().calls == before);
    virtual_files_set_hook_enabled(true);
    fsync(file);
    fdatasync(file);
    syncfs(file);
    struct virtual_files_counts counts = virtual_files_get_counts();
    check_case(
        "syncs are counted", counts.fsyncs == 1 && counts.fdatasyncs == 1 && counts.syncfs == 1);
    check_case("bytes are counted", counts.bytes_written == 2 && counts.bytes_read >= 1);
    close(file);
}

// MARK: - Death

static void check_death(void) {
    virtual_files_reset();
    virtual_files_reclaim();
    int kept = make("/virtual/kept");
    int gone = make("/virtual/gone");
    write(kept, "abc", 3);
    unlink("/virtual/gone");
    check_case("an unlinked file stays readable", write(gone, "x", 1) == 1);
    DIR *stream = opendir("/virtual");
    flock(kept, LOCK_EX | LOCK_NB);
    virtual_files_freeze();
    bool is_dead = pwrite(kept, "z", 1, 0) == -1 && errno == EIO && mkdir("/virtual/d", 0755) == -1
        && errno == EIO && readdir(stream) == NULL;
    check_case("a dead process changes nothing", is_dead);
    virtual_files_reboot(VIRTUAL_FILES_PROCESS, 0, VIRTUAL_FILES_JOURNAL);
    int new = open("/virtual/kept", O_RDWR);
    char bytes[4] = "";
    check_case("what it wrote is there", pread(new, bytes, 3, 0) == 3 && !strcmp(bytes, "abc"));
    check_case("its locks are gone", flock(new, LOCK_EX | LOCK_NB) == 0);
    check_case("its unlinked files are gone", virtual_files_used_inodes() == 1);
    bool is_void = pwrite(kept, "z", 1, 0) == -1 && errno == EBADF;
    check_case("its descriptors mean nothing", is_void && new != kept && new != gone);
    close(kept);
    closedir(stream);
    int next = open("/virtual/kept", O_RDONLY);
    check_case("a late close hits nobody", fcntl(new, F_GETFL) >= 0 && next >= 0);
    close(new);
    close(next);
    virtual_files_reclaim();
    check_case("nothing stays open", virtual_files_open_descriptors() == 0);
}

static bool is_at(int file, const char *path) {
    char found[200];
    size_t length = virtual_files_path(file, found, sizeof found);
    return path == NULL ? length == 0 : length == strlen(path) && strcmp(found, path) == 0;
}

static void check_paths(void) {
    virtual_files_reset();
    mkdir("/virtual/d", 0755);
    mkdir("/virtual/d/e", 0755);
    int file = make("/virtual/d/e/f");
    check_case("a descriptor has a path", is_at(file, "/virtual/d/e/f"));
    rename("/virtual/d", "/virtual/c");
    check_case("it follows renames", is_at(file, "/virtual/c/e/f"));
    link("/virtual/c/e/f", "/virtual/g");
    unlink("/virtual/g");
    check_case("another name is found", is_at(file, "/virtual/c/e/f"));
    unlink("/virtual/c/e/f");
    check_case("or none", is_at(file, NULL));
    close(file);
    check_case("of a closed one neither", is_at(file, NULL));
}

// MARK: - Copies

static void check_copies(void) {
    virtual_files_reset();
    mkdir("/virtual/d", 0755);
    int file = make("/virtual/d/f");
    write(file, "before", 6);
    int unlinked = make("/virtual/u");
    unlink("/virtual/u");
    uint64_t before = virtual_files_hash();
    uint64_t durable = virtual_files_durability_hash();
    struct virtual_files_snapshot *snapshot = virtual_files_take_snapshot();
    pwrite(file, "AFTER", 5, 0);
    rename("/virtual/d/f", "/virtual/g");
    fsync(file);
    check_case("the hash tells states apart", virtual_files_hash() != before);
    for (int i = 0; i < 2; i++) {
        virtual_files_restore(snapshot);
        check_case("a copy brings back what was", virtual_files_hash() == before);
        check_case("what was not durable is not", virtual_files_durability_hash() == durable);
        check_case("and not what was only open", virtual_files_used_inodes() == 2);
        int again = open("/virtual/d/f", O_RDWR);
        check_case("it can be written to", pwrite(again, "0", 1, 0) == 1);
        close(again);
    }
    virtual_files_reset();
    virtual_files_restore(snapshot);
    check_case("a copy outlives a reset", virtual_files_hash() == before);
    virtual_files_free_snapshot(snapshot);
    close(file);
    close(unlinked);
}

// MARK: - Limits

static void check_limits(void) {
    virtual_files_reset();
    virtual_files_set_capacity(4 * 4096, 2);
    int file = make("/virtual/f");
    static char bytes[6 * 4096];
    check_case("a full disk takes what fits", pwrite(file, bytes, sizeof bytes, 0) == 4 * 4096);
    check_case("and then nothing", pwrite(file, bytes, 1, 4 * 4096) == -1 && errno == ENOSPC);
    check_case("but what is there", pwrite(file, bytes, 8192, 1) == 8192);
    struct statvfs space;
    fstatvfs(file, &space);
    check_case("it says so", space.f_bavail == 0 && space.f_favail == 1);
    int other = make("/virtual/g");
    check_case("preallocation fails", fallocate(other, 0, 0, 1) == -1 && errno == ENOSPC);
    check_case("names run out", make("/virtual/h") == -1 && errno == ENOSPC);
    unlink("/virtual/f");
    check_case("an open file keeps its space", pwrite(other, bytes, 1, 0) == -1);
    close(file);
    check_case("and gives it back", pwrite(other, bytes, 1, 0) == 1);
    close(other);
    virtual_files_set_capacity(-1, -1);
}

// MARK: - Order, numbers, time

static void list(char text[64]) {
    DIR *stream = opendir("/virtual");
    struct dirent *entry;
    *text = 0;
    while ((entry = readdir(stream)) != NULL) {
        if (entry->d_name[0] != '.') strcat(text, entry->d_name);
    }
    closedir(stream);
}

static void check_order(void) {
    char lists[5][64];
    virtual_files_reset();
    for (char name = 'a'; name <= 'j'; name++) {
        char path[16];
        snprintf(path, sizeof path, "/virtual/%c", name);
        close(make(path));
    }
    list(lists[0]);
    virtual_files_set_directory_order(1);
    list(lists[1]);
    list(lists[2]);
    virtual_files_set_directory_order(1);
    list(lists[3]);
    check_case("names come in their order", strcmp(lists[0], "abcdefghij") == 0);
    check_case("or in another", strcmp(lists[1], lists[0]) && strlen(lists[1]) == 10);
    check_case("each time", strcmp(lists[1], lists[2]) != 0);
    check_case("the seed makes it", strcmp(lists[1], lists[3]) == 0);
}

static uint64_t number_of(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? status.st_ino : 0;
}

static void check_numbers(void) {
    for (int reuse = 0; reuse < 2; reuse++) {
        virtual_files_reset();
        virtual_files_set_inode_reuse(reuse == 1);
        close(make("/virtual/a"));
        uint64_t first = number_of("/virtual/a");
        unlink("/virtual/a");
        close(make("/virtual/b"));
        bool is_same = number_of("/virtual/b") == first;
        check_case("inode numbers are used again if wanted", is_same == (reuse == 1));
    }
    struct stat plain;
    struct stat64 large[2];
    dev_t devices[2];
    for (int i = 0; i < 2; i++) {
        stat("/virtual", &plain);
        stat64("/virtual", &large[i]);
        devices[i] = plain.st_dev;
        virtual_files_reboot(VIRTUAL_FILES_PROCESS, 0, VIRTUAL_FILES_JOURNAL);
    }
    check_case("the device stays", devices[0] == devices[1]);
    check_case("but not for SQLite", large[0].st_dev != large[1].st_dev);
}

static void check_time(void) {
    virtual_files_reset();
    virtual_files_set_time(1234, 5678);
    close(make("/virtual/f"));
    struct stat status;
    stat("/virtual/f", &status);
    check_case(
        "files are stamped", status.st_mtim.tv_sec == 1234 && status.st_ctim.tv_nsec == 5678);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    check_case("the clock is real", now.tv_sec > 1600000000 && time(NULL) > 1600000000);
    virtual_files_set_clock(true);
    clock_gettime(CLOCK_REALTIME, &now);
    check_case("or virtual", now.tv_sec == 1234 && now.tv_nsec == 5678 && time(NULL) == 1234);
    virtual_files_set_clock(false);
}

void check_world(void) {
    check_hooks();
    check_death();
    check_paths();
    check_copies();
    check_limits();
    check_order();
    check_numbers();
    check_time();
}
#endif
