// The C library's functions on the file system as a whole.
#if defined(__linux__)
#include "calls.h"

#include <linux/magic.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>

/// Without a limit, a terabyte.
static void space(int64_t *total, int64_t *left, int64_t *inodes, int64_t *left_inodes) {
    *total = world.capacity_pages >= 0 ? world.capacity_pages : (int64_t)1 << 28;
    *left = *total - world.disk.used_pages;
    *inodes = world.capacity_inodes >= 0 ? world.capacity_inodes : (int64_t)1 << 24;
    *left_inodes = *inodes - world.disk.used_inodes;
    if (*left < 0) *left = 0;
    if (*left_inodes < 0) *left_inodes = 0;
}

static void fill_statfs(struct statfs *status) {
    int64_t total, left, inodes, left_inodes;
    space(&total, &left, &inodes, &left_inodes);
    memset(status, 0, sizeof *status);
    status->f_type = world.is_network ? NFS_SUPER_MAGIC : EXT4_SUPER_MAGIC;
    status->f_bsize = status->f_frsize = PAGE_SIZE;
    status->f_blocks = (fsblkcnt_t)total;
    status->f_bfree = status->f_bavail = (fsblkcnt_t)left;
    status->f_files = (fsfilcnt_t)inodes;
    status->f_ffree = (fsfilcnt_t)left_inodes;
    status->f_namelen = 255;
}

static void fill_statvfs(struct statvfs *status) {
    int64_t total, left, inodes, left_inodes;
    space(&total, &left, &inodes, &left_inodes);
    memset(status, 0, sizeof *status);
    status->f_bsize = status->f_frsize = PAGE_SIZE;
    status->f_blocks = (fsblkcnt_t)total;
    status->f_bfree = status->f_bavail = (fsblkcnt_t)left;
    status->f_files = (fsfilcnt_t)inodes;
    status->f_ffree = status->f_favail = (fsfilcnt_t)left_inodes;
    status->f_namemax = 255;
}

int fstatfs(int descriptor, struct statfs *status) {
    if (!is_virtual(descriptor)) {
        return REAL("fstatfs", int (*)(int, struct statfs *))(descriptor, status);
    }
    struct inode *inode;
    if (begin_descriptor("fstatfs", descriptor, false, &inode) != 0) return -1;
    fill_statfs(status);
    return call_end(0);
}

int statfs(const char *path, struct statfs *status) {
    if (!is_beneath_root(path)) {
        return REAL("statfs", int (*)(const char *, struct statfs *))(path, status);
    }
    struct inode *inode;
    if (begin_path("statfs", AT_FDCWD, path, true, false, &inode) != 0) return -1;
    fill_statfs(status);
    return call_end(0);
}

int fstatvfs(int descriptor, struct statvfs *status) {
    if (!is_virtual(descriptor)) {
        return REAL("fstatvfs", int (*)(int, struct statvfs *))(descriptor, status);
    }
    struct inode *inode;
    if (begin_descriptor("fstatvfs", descriptor, false, &inode) != 0) return -1;
    fill_statvfs(status);
    return call_end(0);
}

int statvfs(const char *path, struct statvfs *status) {
    if (!is_beneath_root(path)) {
        return REAL("statvfs", int (*)(const char *, struct statvfs *))(path, status);
    }
    struct inode *inode;
    if (begin_path("statvfs", AT_FDCWD, path, true, false, &inode) != 0) return -1;
    fill_statvfs(status);
    return call_end(0);
}

int fstatfs64(int descriptor, struct statfs64 *status) {
    return fstatfs(descriptor, (struct statfs *)status);
}
int statfs64(const char *path, struct statfs64 *status) {
    return statfs(path, (struct statfs *)status);
}
int fstatvfs64(int descriptor, struct statvfs64 *status) {
    return fstatvfs(descriptor, (struct statvfs *)status);
}
int statvfs64(const char *path, struct statvfs64 *status) {
    return statvfs(path, (struct statvfs *)status);
}
#endif
