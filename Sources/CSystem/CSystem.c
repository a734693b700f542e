#define _GNU_SOURCE
#include "CSystem.h"

#if defined(__linux__)
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#endif

int osssync_openat(int directory, const char *path, int flags, unsigned int mode) {
    return openat(directory, path, flags, mode);
}

#if defined(__linux__)
int osssync_openat2_beneath(int directory, const char *path, uint64_t flags, uint64_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int osssync_clone_file(int destination, int source) {
    return ioctl(destination, FICLONE, source);
}

int osssync_renameat_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to) {
    return renameat2(fromDirectory, from, toDirectory, to, RENAME_NOREPLACE);
}
#else
int osssync_openat2_beneath(int directory, const char *path, uint64_t flags, uint64_t mode) {
    (void)directory; (void)path; (void)flags; (void)mode;
    errno = ENOSYS;
    return -1;
}

int osssync_clone_file(int destination, int source) {
    (void)destination; (void)source;
    errno = ENOTSUP;
    return -1;
}

int osssync_renameat_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to) {
    return renameatx_np(fromDirectory, from, toDirectory, to, RENAME_EXCL);
}
#endif
