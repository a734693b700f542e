// What the files with the C library's functions share.
#ifndef OSSSYNC_VIRTUAL_FILES_CALLS_H
#define OSSSYNC_VIRTUAL_FILES_CALLS_H

#include "internal.h"

#include <sys/types.h>
#include <unistd.h>

/// open in all its forms; -1 with errno.
int virtual_open(int directory, const char *path, int flags, mode_t mode, int walk_flags);
int virtual_rename(
    const char *call, int old_directory, const char *old_path, int new_directory,
    const char *new_path, unsigned int flags);
/// Where relative paths start; an error number.
int start_of(int directory, const char *path, inode_id *start);
/// The file of an open descriptor, or NULL with EBADF in `code`.
struct inode *file_of(int descriptor, struct description **description, int *code);

// These begin a call on a file, found by its path or its descriptor or either; when the answer is
// 0, the lock is held.
int begin_path(
    const char *call, int directory, const char *path, bool follows, bool changes,
    struct inode **inode);
int begin_descriptor(const char *call, int descriptor, bool changes, struct inode **inode);
int begin_either(
    const char *call, int directory, const char *path, int flags, bool changes,
    struct inode **inode);

#endif
