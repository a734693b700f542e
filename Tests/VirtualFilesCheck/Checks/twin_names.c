// Steps on names.
#if defined(__linux__)
#include "twin.h"
#include "virtual_files.h"

#include <dirent.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>

static const mode_t file_modes[] = {0600, 0644, 0700, 0755};

static void trace(const struct two_paths *paths) {
    if (getenv("VIRTUAL_FILES_TRACE") == NULL) return;
    printf("    %d %s\n", paths->at[0], paths->text[0]);
}

static mode_t some_mode(struct twin *twin) { return file_modes[twin_below(twin, 4)]; }

/// Keeps a new pair of descriptors in a random place.
static void keep(struct twin *twin, const char *call, const int64_t descriptors[2]) {
    int64_t signs[2];
    for (int side = 0; side < 2; side++) {
        signs[side] = descriptors[side] < 0 ? descriptors[side] : 0;
    }
    bool is_same = twin_same(twin, call, signs);
    struct pair new = {{(int)descriptors[0], (int)descriptors[1]}, false};
    struct stat status[2];
    char path[TWIN_PATH];
    bool stays = is_same && descriptors[0] >= 0;
    if (stays) {
        for (int side = 0; side < 2; side++) fstat(new.on[side], &status[side]);
        twin_compare_status(twin, call, status);
        new.is_directory = S_ISDIR(status[0].st_mode);
        // FIFOs would wait for one another, and a directory above the root would lead out of it.
        if (S_ISFIFO(status[0].st_mode)) stays = false;
        if (virtual_files_path(new.on[0], path, sizeof path) > 0
            && strncmp(path, twin->roots[0], strlen(twin->roots[0])) != 0) stays = false;
    }
    struct pair *place = &twin->open[twin_below(twin, TWIN_DESCRIPTORS)];
    struct pair old = *place;
    if (stays) *place = new; else old = new;
    for (int side = 0; side < 2; side++) {
        if (old.on[side] >= 0) close(old.on[side]);
    }
}

static int some_flags(struct twin *twin) {
    static const int accesses[] = {O_RDONLY, O_RDWR, O_RDWR, O_WRONLY};
    static const int others[] = {O_EXCL, O_TRUNC, O_APPEND, O_NOFOLLOW, O_DIRECTORY};
    int flags = accesses[twin_below(twin, 4)] | O_NONBLOCK | O_CLOEXEC;
    if (twin_below(twin, 2) == 0) flags |= O_CREAT;
    for (int i = 0; i < 5; i++) {
        if (twin_below(twin, 5) == 0) flags |= others[i];
    }
    // What this means differs from kernel to kernel.
    if (flags & O_CREAT) flags &= ~O_DIRECTORY;
    return flags;
}

void twin_open(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    int flags = some_flags(twin);
    mode_t mode = some_mode(twin);
    ON_BOTH(results, openat(paths.at[side], paths.text[side], flags, mode));
    keep(twin, "openat", results);
}

void twin_open_beneath(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    struct open_how how = {.flags = (uint64_t)some_flags(twin)};
    if (how.flags & O_CREAT) how.mode = some_mode(twin);
    how.resolve = twin_below(twin, 2) == 0
        ? RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS : RESOLVE_BENEATH;
    ON_BOTH(results, syscall(SYS_openat2, paths.at[side], paths.text[side], &how, sizeof how));
    keep(twin, "openat2", results);
}

void twin_close(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    ON_BOTH(results, close(pair->on[side]));
    twin_same(twin, "close", results);
    pair->on[0] = pair->on[1] = -1;
}

void twin_duplicate(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    bool by_control = twin_below(twin, 2) == 0;
    ON_BOTH(results, by_control ? fcntl(pair->on[side], F_DUPFD_CLOEXEC, 0) : dup(pair->on[side]));
    keep(twin, "dup", results);
}

void twin_mkdir(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    mode_t mode = twin_below(twin, 2) == 0 ? 0700 : 0755;
    ON_BOTH(results, mkdirat(paths.at[side], paths.text[side], mode));
    twin_same(twin, "mkdirat", results);
}

void twin_mkfifo(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    ON_BOTH(results, mkfifoat(paths.at[side], paths.text[side], 0644));
    twin_same(twin, "mkfifoat", results);
}

void twin_unlink(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    ON_BOTH(results, unlinkat(paths.at[side], paths.text[side], 0));
    twin_same(twin, "unlinkat", results);
}

void twin_rmdir(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    ON_BOTH(results, unlinkat(paths.at[side], paths.text[side], AT_REMOVEDIR));
    twin_same(twin, "rmdir", results);
}

void twin_rename(struct twin *twin) {
    struct two_paths from = twin_path(twin);
    struct two_paths to = twin_path(twin);
    trace(&from);
    trace(&to);
    static const unsigned int kinds[] = {0, 0, 0, RENAME_NOREPLACE, RENAME_NOREPLACE, RENAME_EXCHANGE};
    unsigned int flags = kinds[twin_below(twin, 6)];
    ON_BOTH(
        results,
        renameat2(from.at[side], from.text[side], to.at[side], to.text[side], flags));
    twin_same(twin, flags == 0 ? "renameat" : "renameat2", results);
}

void twin_link(struct twin *twin) {
    struct two_paths from = twin_path(twin);
    struct two_paths to = twin_path(twin);
    trace(&from);
    trace(&to);
    int flags = twin_below(twin, 3) == 0 ? AT_SYMLINK_FOLLOW : 0;
    ON_BOTH(
        results, linkat(from.at[side], from.text[side], to.at[side], to.text[side], flags));
    twin_same(twin, "linkat", results);
}

void twin_symlink(struct twin *twin) {
    static const char *const targets[] = {"a", "b", "c/d", "d", "e/", ".", "f/g\n\xFF", "nowhere"};
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    const char *target = targets[twin_below(twin, sizeof targets / sizeof targets[0])];
    bool is_absolute = twin_below(twin, 4) == 0;
    char text[2][700];
    for (int side = 0; side < 2; side++) {
        const char *root = is_absolute ? twin->roots[side] : "";
        snprintf(text[side], sizeof text[side], "%s%s%s", root, is_absolute ? "/" : "", target);
    }
    ON_BOTH(results, symlinkat(text[side], paths.at[side], paths.text[side]));
    twin_same(twin, "symlinkat", results);
}

void twin_readlink(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    char text[2][800];
    memset(text, 0, sizeof text);
    ON_BOTH(results, readlinkat(paths.at[side], paths.text[side], text[side], 700));
    const char *rests[2];
    for (int side = 0; side < 2; side++) {
        size_t root = strlen(twin->roots[side]);
        bool is_absolute = strncmp(text[side], twin->roots[side], root) == 0;
        rests[side] = text[side] + (is_absolute ? root : 0);
        if (is_absolute) results[side] -= (int64_t)root;
    }
    if (!twin_same(twin, "readlinkat", results)) return;
    if (strcmp(rests[0], rests[1]) != 0) twin_fail(twin, "readlinkat", "other targets");
}

void twin_status(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    int flags = twin_below(twin, 2) == 0 ? AT_SYMLINK_NOFOLLOW : 0;
    struct stat status[2];
    ON_BOTH(results, fstatat(paths.at[side], paths.text[side], &status[side], flags));
    if (twin_same(twin, "fstatat", results) && results[0] == 0
        && !S_ISLNK(status[0].st_mode)) twin_compare_status(twin, "fstatat", status);
    struct statx extended[2];
    ON_BOTH(
        others,
        statx(paths.at[side], paths.text[side], flags, STATX_BASIC_STATS, &extended[side]));
    if (!twin_same(twin, "statx", others) || others[0] != 0) return;
    if (extended[0].stx_mode != extended[1].stx_mode) twin_fail(twin, "statx", "other modes");
}

void twin_access(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    static const int modes[] = {F_OK, R_OK, W_OK, X_OK};
    int mode = modes[twin_below(twin, 4)];
    ON_BOTH(results, faccessat(paths.at[side], paths.text[side], mode, 0));
    twin_same(twin, "faccessat", results);
}

void twin_change_mode(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    mode_t mode = twin_below(twin, 2) == 0 ? 0700 : 0755;
    ON_BOTH(results, fchmodat(paths.at[side], paths.text[side], mode, 0));
    twin_same(twin, "fchmodat", results);
}

void twin_change_times(struct twin *twin) {
    struct two_paths paths = twin_path(twin);
    trace(&paths);
    struct timespec times[2] = {
        {0, UTIME_NOW},
        {(time_t)twin_below(twin, 2000000000), (long)twin_below(twin, 1000000000)},
    };
    if (twin_below(twin, 10) == 0) times[1].tv_nsec = 1000000000;
    ON_BOTH(results, utimensat(paths.at[side], paths.text[side], times, 0));
    if (!twin_same(twin, "utimensat", results) || results[0] != 0) return;
    struct stat status[2];
    for (int side = 0; side < 2; side++) {
        fstatat(paths.at[side], paths.text[side], &status[side], 0);
        if (status[side].st_mtim.tv_sec != times[1].tv_sec
            || status[side].st_mtim.tv_nsec != times[1].tv_nsec) {
            twin_fail(twin, "utimensat", "another time");
        }
    }
}

static int compare_text(const void *a, const void *b) { return strcmp(a, b); }

/// Names and types, sorted.
static size_t read_names(DIR *stream, char names[200][300]) {
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL && count < 200) {
        snprintf(names[count++], 300, "%s/%d", entry->d_name, entry->d_type);
    }
    qsort(names, count, 300, compare_text);
    return count;
}

void twin_list(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    static char names[2][200][300];
    int64_t counts[2];
    for (int side = 0; side < 2; side++) {
        int own = openat(pair->on[side], ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *stream = own < 0 ? NULL : fdopendir(own);
        if (stream == NULL) {
            counts[side] = -errno;
            continue;
        }
        counts[side] = (int64_t)read_names(stream, names[side]);
        if (twin_below(twin, 1) == 0) {
            rewinddir(stream);
            if ((int64_t)read_names(stream, names[side]) != counts[side]) {
                twin_fail(twin, "rewinddir", "other names");
            }
        }
        closedir(stream);
    }
    if (!twin_same(twin, "readdir", counts)) return;
    for (int64_t i = 0; i < counts[0]; i++) {
        if (strcmp(names[0][i], names[1][i]) != 0) {
            twin_fail(twin, "readdir", names[1][i]);
            return;
        }
    }
}
#endif
