// A virtual directory and a real one to which the same is done.
#ifndef OSSSYNC_VIRTUAL_FILES_TWIN_H
#define OSSSYNC_VIRTUAL_FILES_TWIN_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TWIN_DESCRIPTORS = 8, TWIN_PATH = 5000 };

/// 0 is the virtual side, 1 the real one.
struct pair {
    int on[2];
    bool is_directory;
};

struct twin {
    uint64_t state;
    /// The directories where all paths begin.
    char roots[2][600];
    struct pair open[TWIN_DESCRIPTORS];
    /// Real directories count the directories in them, as ext4's do.
    bool counts_links;
    bool has_failed;
    int step;
    uint64_t seed;
};

/// A path for each side, and the descriptor that it is relative to.
struct two_paths {
    char text[2][TWIN_PATH];
    int at[2];
};

uint64_t twin_below(struct twin *twin, uint64_t limit);
void twin_begin(struct twin *twin, uint64_t seed, const char *real_root);
void twin_end(struct twin *twin);
void twin_compare_trees(struct twin *twin);

struct two_paths twin_path(struct twin *twin);
/// An open pair, or NULL.
struct pair *twin_pair(struct twin *twin);
/// Compares results, of which a negative one is an error number, negated.
bool twin_same(struct twin *twin, const char *call, const int64_t result[2]);
void twin_fail(struct twin *twin, const char *call, const char *what);
void twin_compare_status(struct twin *twin, const char *call, const struct stat status[2]);

void twin_open(struct twin *twin);
void twin_open_beneath(struct twin *twin);
void twin_close(struct twin *twin);
void twin_mkdir(struct twin *twin);
void twin_unlink(struct twin *twin);
void twin_rmdir(struct twin *twin);
void twin_rename(struct twin *twin);
void twin_link(struct twin *twin);
void twin_symlink(struct twin *twin);
void twin_readlink(struct twin *twin);
void twin_mkfifo(struct twin *twin);
void twin_write(struct twin *twin);
void twin_read(struct twin *twin);
void twin_truncate(struct twin *twin);
void twin_preallocate(struct twin *twin);
void twin_status(struct twin *twin);
void twin_descriptor_status(struct twin *twin);
void twin_change_mode(struct twin *twin);
void twin_change_times(struct twin *twin);
void twin_seek(struct twin *twin);
void twin_lock(struct twin *twin);
void twin_list(struct twin *twin);
void twin_access(struct twin *twin);
void twin_duplicate(struct twin *twin);
void twin_copy_range(struct twin *twin);
void twin_clone(struct twin *twin);
void twin_vectors(struct twin *twin);
void twin_flags(struct twin *twin);

/// The result of a call, or its error number, negated.
#define RESULT(call) ({ int64_t value_ = (call); value_ < 0 ? -(int64_t)errno : value_; })
/// Does it on both sides; `side` is the side.
#define ON_BOTH(results, call) \
    int64_t results[2]; \
    for (int side = 0; side < 2; side++) results[side] = RESULT(call)

#endif
