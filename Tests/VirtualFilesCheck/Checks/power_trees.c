// Directories that move, come and go before a power cut: no file may be lost with them.
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "model.h"
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 5, DEPTH = 3 };

static void random_path(struct chooser *chooser, char path[40]) {
    strcpy(path, "/virtual");
    for (uint64_t depth = 1 + choose(chooser, DEPTH); depth > 0; depth--) {
        size_t length = strlen(path);
        path[length] = '/';
        path[length + 1] = (char)('a' + choose(chooser, 3));
        path[length + 2] = 0;
    }
}

static void fsync_path(const char *path) {
    int descriptor = open(path, O_RDONLY);
    if (descriptor < 0) return;
    fsync(descriptor);
    close(descriptor);
}

static void change(struct chooser *chooser) {
    char path[40], other[40];
    random_path(chooser, path);
    random_path(chooser, other);
    switch (choose(chooser, 8)) {
    case 0: mkdir(path, 0755); break;
    case 1:
    case 2: rmdir(path); break;
    case 3: fsync_path(path); break;
    default:
        // Files are replaced by nobody; an empty directory may be.
        if (choose(chooser, 3) == 0) renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_EXCHANGE);
        else if (choose(chooser, 2) == 0) {
            renameat2(AT_FDCWD, path, AT_FDCWD, other, RENAME_NOREPLACE);
        } else {
            struct stat from, to;
            bool replaces = stat(other, &to) == 0 && S_ISREG(to.st_mode);
            if (!replaces && stat(path, &from) == 0) rename(path, other);
        }
    }
}

/// Counts the files by their contents; false if a directory is deeper than any can be.
static bool count_files(const char *path, int counts[FILES], int depth) {
    DIR *stream = depth > 40 ? NULL : opendir(path);
    if (stream == NULL) return false;
    bool is_right = true;
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL && is_right) {
        if (entry->d_name[0] == '.') continue;
        char inner[200];
        snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name);
        if (entry->d_type == DT_DIR) {
            is_right = count_files(inner, counts, depth + 1);
            continue;
        }
        unsigned char number = FILES;
        int file = open(inner, O_RDONLY);
        is_right = read(file, &number, 1) == 1 && number < FILES;
        close(file);
        if (is_right) counts[number]++;
    }
    closedir(stream);
    return is_right;
}

static bool keeps_files(uint64_t seed) {
    struct chooser chooser = {seed};
    virtual_files_reset();
    for (int i = 0; i < 12; i++) {
        char path[40];
        random_path(&chooser, path);
        mkdir(path, 0755);
    }
    for (unsigned char i = 0; i < FILES; i++) {
        char path[40];
        snprintf(path, sizeof path, "/virtual/%d", i);
        int file = open(path, O_WRONLY | O_CREAT, 0644);
        write(file, &i, 1);
        syncfs(file);
        close(file);
        char place[40];
        random_path(&chooser, place);
        renameat2(AT_FDCWD, path, AT_FDCWD, place, RENAME_NOREPLACE);
    }
    for (uint64_t calls = 5 + choose(&chooser, 60); calls > 0; calls--) change(&chooser);
    int counts[FILES] = {0};
    if (!count_files("/virtual", counts, 0)) return false;
    // The last mode has the most ways to be wrong.
    enum virtual_files_power_mode mode = seed % 8 == 0 ? VIRTUAL_FILES_JOURNAL
        : seed % 8 == 1 ? VIRTUAL_FILES_DIRECTORY_PREFIX : VIRTUAL_FILES_ANY_SUBSET;
    virtual_files_reboot(VIRTUAL_FILES_POWER, seed, mode);
    int left[FILES] = {0};
    if (!count_files("/virtual", left, 0)) return false;
    return memcmp(counts, left, sizeof counts) == 0 && virtual_files_used_inodes() >= FILES
        && virtual_files_open_descriptors() == 0;
}

/// fsync of a directory makes durable that a directory in it is gone, and so what left that one.
static bool keeps_removal(uint64_t seed) {
    virtual_files_reset();
    mkdir("/virtual/old", 0755);
    mkdir("/virtual/new", 0755);
    int file = open("/virtual/old/f", O_WRONLY | O_CREAT, 0644);
    syncfs(file);
    close(file);
    rename("/virtual/old/f", "/virtual/new/f");
    rmdir("/virtual/old");
    fsync_path("/virtual");
    virtual_files_reboot(VIRTUAL_FILES_POWER, seed, (enum virtual_files_power_mode)(seed % 3));
    return access("/virtual/old", F_OK) != 0 && access("/virtual/new/f", F_OK) == 0;
}

void check_power_trees(uint64_t seeds) {
    bool keeps = true;
    for (uint64_t seed = 1; seed <= 60; seed++) keeps = keeps && keeps_removal(seed);
    check_case("a removal that was synced lasts", keeps);
    bool is_right = true;
    for (uint64_t seed = 1; seed <= seeds && is_right; seed++) {
        is_right = keeps_files(seed);
        if (!is_right) printf("trees: seed %lu\n", seed);
    }
    check_case("no file is lost or doubled with the directories around it", is_right);
}
#endif
