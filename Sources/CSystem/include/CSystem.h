#ifndef OSSSYNC_CSYSTEM_H
#define OSSSYNC_CSYSTEM_H

// Variadic system calls in the fixed forms that Swift can call. Linux only; a Mac has no openat2 and takes the fallback.

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

int osssync_openat(int directory, const char *path, int flags, unsigned int mode);
/// Opens beneath `directory`, refusing symbolic links and `..` escapes in every component; fails with ENOSYS where the
/// kernel has no openat2.
int osssync_openat2_beneath(int directory, const char *path, uint64_t flags, uint64_t mode);
/// Shares the blocks of `source` with `destination` (FICLONE); fails where the file system cannot.
int osssync_clone_file(int destination, int source);
/// renameat2 with RENAME_NOREPLACE; fails with EEXIST instead of replacing.
int osssync_renameat_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to);

#endif
