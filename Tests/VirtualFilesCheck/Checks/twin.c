#if defined(__linux__)
#include "twin.h"
#include "virtual_files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

// MARK: - Choices

static uint64_t next(struct twin *twin) {
    twin->state += 0x9E3779B97F4A7C15u;
    uint64_t value = twin->state;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

uint64_t twin_below(struct twin *twin, uint64_t limit) { return next(twin) % limit; }

static void append_name(struct twin *twin, char *path) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g\n\xFF"};
    uint64_t choice = twin_below(twin, 200);
    if (choice == 0 || choice == 1) {
        // Just short enough, or just too long.
        size_t length = strlen(path);
        memset(path + length, 'n', 255 + choice);
        path[length + 255 + choice] = 0;
    } else if (choice < 8) {
        strcat(path, ".");
    } else {
        strcat(path, names[twin_below(twin, sizeof names / sizeof names[0])]);
    }
}

/// Up leads a path only from a directory that it entered, so that it stays near its root.
static void append_relative(struct twin *twin, char *path) {
    append_name(twin, path);
    for (uint64_t depth = twin_below(twin, 10); depth > 5; depth--) {
        strcat(path, twin_below(twin, 20) == 0 ? "//" : "/");
        if (twin_below(twin, 15) == 0) strcat(path, "../");
        append_name(twin, path);
    }
    if (twin_below(twin, 25) == 0) strcat(path, twin_below(twin, 3) == 0 ? "/.." : "/");
}

struct two_paths twin_path(struct twin *twin) {
    struct two_paths paths = {.at = {AT_FDCWD, AT_FDCWD}};
    char relative[TWIN_PATH] = "";
    append_relative(twin, relative);
    uint64_t choice = twin_below(twin, 100);
    if (choice == 0) relative[0] = 0;
    struct pair *pair = twin_pair(twin);
    if (choice < 50 && pair != NULL && (pair->is_directory || choice < 5)) {
        for (int side = 0; side < 2; side++) {
            paths.at[side] = pair->on[side];
            strcpy(paths.text[side], relative);
        }
        return paths;
    }
    for (int side = 0; side < 2; side++) {
        snprintf(paths.text[side], TWIN_PATH, "%s/%s", twin->roots[side], relative);
    }
    return paths;
}

struct pair *twin_pair(struct twin *twin) {
    struct pair *pair = &twin->open[twin_below(twin, TWIN_DESCRIPTORS)];
    return pair->on[0] < 0 ? NULL : pair;
}

// MARK: - Comparing

void twin_fail(struct twin *twin, const char *call, const char *what) {
    twin->has_failed = true;
    printf("seed %lu, step %d, %s: %s\n", twin->seed, twin->step, call, what);
}

bool twin_same(struct twin *twin, const char *call, const int64_t result[2]) {
    if (getenv("VIRTUAL_FILES_TRACE") != NULL) {
        printf("  %d %s %ld %ld\n", twin->step, call, result[0], result[1]);
    }
    if (result[0] == result[1]) return true;
    char text[200];
    snprintf(
        text, sizeof text, "virtual %ld (%s), real %ld (%s)", result[0],
        result[0] < 0 ? strerror((int)-result[0]) : "", result[1],
        result[1] < 0 ? strerror((int)-result[1]) : "");
    twin_fail(twin, call, text);
    return false;
}

void twin_compare_status(struct twin *twin, const char *call, const struct stat status[2]) {
    int64_t modes[2], links[2], sizes[2];
    for (int side = 0; side < 2; side++) {
        modes[side] = status[side].st_mode;
        links[side] = (int64_t)status[side].st_nlink;
        sizes[side] = status[side].st_size;
    }
    char text[80];
    bool is_directory = S_ISDIR(status[0].st_mode);
    snprintf(text, sizeof text, "mode after %s", call);
    if (!twin_same(twin, text, modes)) return;
    snprintf(text, sizeof text, "links after %s", call);
    if ((!is_directory || twin->counts_links) && !twin_same(twin, text, links)) return;
    snprintf(text, sizeof text, "size after %s", call);
    // Targets of links differ by the roots.
    if (!is_directory && !S_ISLNK(status[0].st_mode)) twin_same(twin, text, sizes);
}

// MARK: - Trees

static int compare_names(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/// The names in a directory, sorted, in one text.
static char *names_in(int directory) {
    int own = openat(directory, ".", O_RDONLY | O_DIRECTORY);
    DIR *stream = own < 0 ? NULL : fdopendir(own);
    if (stream == NULL) return strdup("");
    char *names[1000];
    size_t count = 0;
    size_t length = 1;
    struct dirent *entry;
    while ((entry = readdir(stream)) != NULL && count < 1000) {
        length += strlen(entry->d_name) + 1;
        names[count++] = strdup(entry->d_name);
    }
    closedir(stream);
    qsort(names, count, sizeof names[0], compare_names);
    char *text = calloc(1, length);
    for (size_t i = 0; i < count; i++) {
        strcat(strcat(text, names[i]), "/");
        free(names[i]);
    }
    return text;
}

static void compare_contents(struct twin *twin, const int directories[2], const char *name) {
    enum { SIZE = 70000 };
    static unsigned char bytes[2][SIZE];
    int64_t count[2];
    for (int side = 0; side < 2; side++) {
        int file = openat(directories[side], name, O_RDONLY | O_NOFOLLOW);
        count[side] = RESULT(pread(file, bytes[side], SIZE, 0));
        close(file);
    }
    if (!twin_same(twin, "content's length", count) || count[0] <= 0) return;
    if (memcmp(bytes[0], bytes[1], (size_t)count[0]) != 0) twin_fail(twin, name, "contents differ");
}

static void compare_directories(struct twin *twin, const int directories[2]);

static void compare_entry(struct twin *twin, const int directories[2], const char *name) {
    struct stat status[2];
    ON_BOTH(results, fstatat(directories[side], name, &status[side], AT_SYMLINK_NOFOLLOW));
    if (!twin_same(twin, name, results) || results[0] != 0) return;
    twin_compare_status(twin, name, status);
    if (S_ISREG(status[0].st_mode)) compare_contents(twin, directories, name);
    if (!S_ISDIR(status[0].st_mode)) return;
    int inner[2];
    for (int side = 0; side < 2; side++) {
        inner[side] = openat(directories[side], name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    }
    compare_directories(twin, inner);
    close(inner[0]);
    close(inner[1]);
}

static void compare_directories(struct twin *twin, const int directories[2]) {
    char *names[2] = {names_in(directories[0]), names_in(directories[1])};
    if (strcmp(names[0], names[1]) != 0) {
        printf("virtual: %s\nreal: %s\n", names[0], names[1]);
        twin_fail(twin, "tree", "other names");
    }
    char *rest = names[0];
    char *name;
    while (!twin->has_failed && (name = strsep(&rest, "/")) != NULL && *name != 0) {
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
        compare_entry(twin, directories, name);
    }
    free(names[0]);
    free(names[1]);
}

void twin_compare_trees(struct twin *twin) {
    int directories[2];
    for (int side = 0; side < 2; side++) {
        directories[side] = open(twin->roots[side], O_RDONLY | O_DIRECTORY);
    }
    compare_directories(twin, directories);
    close(directories[0]);
    close(directories[1]);
}

static void remove_tree(int directory, const char *name) {
    if (unlinkat(directory, name, 0) == 0 || errno == ENOENT) return;
    int inner = openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (inner >= 0) {
        char *names = names_in(inner);
        char *rest = names;
        char *child;
        while ((child = strsep(&rest, "/")) != NULL && *child != 0) {
            if (strcmp(child, ".") != 0 && strcmp(child, "..") != 0) remove_tree(inner, child);
        }
        free(names);
        close(inner);
    }
    unlinkat(directory, name, AT_REMOVEDIR);
}

// MARK: - Beginning and end

void twin_begin(struct twin *twin, uint64_t seed, const char *real_root) {
    memset(twin, 0, sizeof *twin);
    twin->state = seed;
    twin->seed = seed;
    const char *tops[2] = {VIRTUAL_FILES_ROOT, real_root};
    for (int side = 0; side < 2; side++) {
        // Whatever climbs by one stays below the top.
        snprintf(twin->roots[side], sizeof twin->roots[side], "%s/x", tops[side]);
        mkdir(twin->roots[side], 0755);
        strcat(twin->roots[side], "/y");
        mkdir(twin->roots[side], 0755);
    }
    char inner[700];
    snprintf(inner, sizeof inner, "%s/x", real_root);
    struct stat status;
    twin->counts_links = stat(inner, &status) == 0 && status.st_nlink == 3;
    for (int i = 0; i < TWIN_DESCRIPTORS; i++) twin->open[i].on[0] = twin->open[i].on[1] = -1;
}

void twin_end(struct twin *twin) {
    for (int i = 0; i < TWIN_DESCRIPTORS; i++) {
        for (int side = 0; side < 2; side++) {
            if (twin->open[i].on[side] >= 0) close(twin->open[i].on[side]);
        }
    }
    for (int side = 0; side < 2; side++) {
        twin->roots[side][strlen(twin->roots[side]) - 2] = 0;
        remove_tree(AT_FDCWD, twin->roots[side]);
    }
}
#endif
