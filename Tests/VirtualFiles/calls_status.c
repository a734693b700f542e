// The C library's functions on what is known of a file.
#if defined(__linux__)
#include "calls.h"

#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <utime.h>

/// Finds what a path leads to; the lock is held when the answer is 0.
static int begin_path(
    const char *call, int directory, const char *path, bool follows, bool changes,
    struct inode **inode
) {
    if (!call_begin(call, directory, path, NULL, changes, 0, NULL)) return -1;
    inode_id start;
    struct place place;
    int code = start_of(directory, path, &start);
    if (code == 0) code = walk(start, path, follows ? WALK_FOLLOW : 0, &place);
    if (code == 0 && place.inode == 0) code = ENOENT;
    if (code != 0) return call_end(code);
    *inode = inode_of(place.inode);
    return 0;
}

static int begin_descriptor(
    const char *call, int descriptor, bool changes, struct inode **inode
) {
    if (!call_begin(call, descriptor, NULL, NULL, changes, 0, NULL)) return -1;
    struct description *description;
    int code;
    *inode = file_of(descriptor, &description, &code);
    if (code == 0 && *inode == NULL) code = EINVAL;
    if (code == 0 && changes && (description->flags & O_PATH)) code = EBADF;
    return code == 0 ? 0 : call_end(code);
}

static int begin_either(
    const char *call, int directory, const char *path, int flags, bool changes,
    struct inode **inode
) {
    if (path == NULL || (*path == 0 && (flags & AT_EMPTY_PATH))) {
        return begin_descriptor(call, directory, changes, inode);
    }
    return begin_path(call, directory, path, !(flags & AT_SYMLINK_NOFOLLOW), changes, inode);
}

enum { DEVICE_MAJOR = 254 };

/// SQLite keeps tables by device and inode for the life of a process, and learns them by the
/// functions for large files: what a dead process left there must not be found by the next one.
/// Everybody else sees one device.
static void fill_status(struct stat *status, const struct inode *inode, bool by_boot) {
    memset(status, 0, sizeof *status);
    status->st_dev = makedev(DEVICE_MAJOR, by_boot ? 1 + world.boot : 1);
    status->st_ino = inode->number;
    status->st_mode = inode->now.mode;
    status->st_nlink = inode->links;
    status->st_uid = inode->now.uid;
    status->st_gid = inode->now.gid;
    status->st_blksize = PAGE_SIZE;
    if (is_directory(inode)) {
        status->st_size = PAGE_SIZE;
        status->st_blocks = PAGE_SIZE / 512;
    } else if (inode->target != NULL) {
        status->st_size = inode->target->length;
    } else {
        status->st_size = inode->content.size;
        status->st_blocks = (blkcnt_t)inode->content.pages * (PAGE_SIZE / 512);
    }
    status->st_atim = inode->now.accessed;
    status->st_mtim = inode->now.modified;
    status->st_ctim = inode->changed;
}

static int virtual_status(
    int directory, const char *path, struct stat *status, int flags, bool by_boot
) {
    struct inode *inode;
    const char *call = path == NULL ? "fstat" : "fstatat";
    if (begin_either(call, directory, path, flags, false, &inode) != 0) return -1;
    fill_status(status, inode, by_boot);
    return call_end(0);
}

// MARK: - stat

int fstat(int descriptor, struct stat *status) {
    if (is_virtual(descriptor)) return virtual_status(descriptor, NULL, status, 0, false);
    return REAL("fstat", int (*)(int, struct stat *))(descriptor, status);
}

int fstat64(int descriptor, struct stat64 *status) {
    if (is_virtual(descriptor)) {
        return virtual_status(descriptor, NULL, (struct stat *)status, 0, true);
    }
    return REAL("fstat64", int (*)(int, struct stat64 *))(descriptor, status);
}

int fstatat(int directory, const char *path, struct stat *status, int flags) {
    if (is_virtual_path(directory, path)) {
        return virtual_status(directory, path, status, flags, false);
    }
    return REAL("fstatat", int (*)(int, const char *, struct stat *, int))(
        directory, path, status, flags);
}

int fstatat64(int directory, const char *path, struct stat64 *status, int flags) {
    if (is_virtual_path(directory, path)) {
        return virtual_status(directory, path, (struct stat *)status, flags, true);
    }
    return REAL("fstatat64", int (*)(int, const char *, struct stat64 *, int))(
        directory, path, status, flags);
}

int stat(const char *path, struct stat *status) {
    if (is_beneath_root(path)) return virtual_status(AT_FDCWD, path, status, 0, false);
    return REAL("stat", int (*)(const char *, struct stat *))(path, status);
}

int stat64(const char *path, struct stat64 *status) {
    if (is_beneath_root(path)) {
        return virtual_status(AT_FDCWD, path, (struct stat *)status, 0, true);
    }
    return REAL("stat64", int (*)(const char *, struct stat64 *))(path, status);
}

int lstat(const char *path, struct stat *status) {
    if (is_beneath_root(path)) {
        return virtual_status(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW, false);
    }
    return REAL("lstat", int (*)(const char *, struct stat *))(path, status);
}

int lstat64(const char *path, struct stat64 *status) {
    if (is_beneath_root(path)) {
        return virtual_status(
            AT_FDCWD, path, (struct stat *)status, AT_SYMLINK_NOFOLLOW, true);
    }
    return REAL("lstat64", int (*)(const char *, struct stat64 *))(path, status);
}

// Programs that were built against a C library before 2.33 call these.
int __fxstat(int version, int descriptor, struct stat *status) {
    (void)version;
    return fstat(descriptor, status);
}
int __fxstat64(int version, int descriptor, struct stat64 *status) {
    (void)version;
    return fstat64(descriptor, status);
}
int __xstat(int version, const char *path, struct stat *status) {
    (void)version;
    return stat(path, status);
}
int __xstat64(int version, const char *path, struct stat64 *status) {
    (void)version;
    return stat64(path, status);
}
int __lxstat(int version, const char *path, struct stat *status) {
    (void)version;
    return lstat(path, status);
}
int __lxstat64(int version, const char *path, struct stat64 *status) {
    (void)version;
    return lstat64(path, status);
}
int __fxstatat(int version, int directory, const char *path, struct stat *status, int flags) {
    (void)version;
    return fstatat(directory, path, status, flags);
}
int __fxstatat64(int version, int directory, const char *path, struct stat64 *status, int flags) {
    (void)version;
    return fstatat64(directory, path, status, flags);
}

static struct statx_timestamp timestamp(struct timespec time) {
    return (struct statx_timestamp){.tv_sec = time.tv_sec, .tv_nsec = (uint32_t)time.tv_nsec};
}

int statx(int directory, const char *path, int flags, unsigned int mask, struct statx *status) {
    if (!is_virtual_path(directory, path)) {
        return REAL("statx", int (*)(int, const char *, int, unsigned int, struct statx *))(
            directory, path, flags, mask, status);
    }
    struct stat plain;
    if (virtual_status(directory, path, &plain, flags, false) != 0) return -1;
    memset(status, 0, sizeof *status);
    status->stx_mask = STATX_BASIC_STATS;
    status->stx_blksize = PAGE_SIZE;
    status->stx_nlink = (uint32_t)plain.st_nlink;
    status->stx_uid = plain.st_uid;
    status->stx_gid = plain.st_gid;
    status->stx_mode = (uint16_t)plain.st_mode;
    status->stx_ino = plain.st_ino;
    status->stx_size = (uint64_t)plain.st_size;
    status->stx_blocks = (uint64_t)plain.st_blocks;
    status->stx_atime = timestamp(plain.st_atim);
    status->stx_mtime = timestamp(plain.st_mtim);
    status->stx_ctime = timestamp(plain.st_ctim);
    status->stx_dev_major = major(plain.st_dev);
    status->stx_dev_minor = minor(plain.st_dev);
    return 0;
}

// MARK: - access

int faccessat(int directory, const char *path, int mode, int flags) {
    if (!is_virtual_path(directory, path)) {
        return REAL("faccessat", int (*)(int, const char *, int, int))(
            directory, path, mode, flags);
    }
    struct inode *inode;
    if (begin_either("faccessat", directory, path, flags, false, &inode) != 0) return -1;
    // As for the superuser: only what nobody may execute is refused.
    bool refused = (mode & X_OK) && !is_directory(inode) && !(inode->now.mode & 0111);
    return call_end(refused ? EACCES : 0);
}

int access(const char *path, int mode) {
    if (!is_beneath_root(path)) return REAL("access", int (*)(const char *, int))(path, mode);
    return faccessat(AT_FDCWD, path, mode, 0);
}

int euidaccess(const char *path, int mode) {
    if (!is_beneath_root(path)) return REAL("euidaccess", int (*)(const char *, int))(path, mode);
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}

// MARK: - Modes and owners

static int change_mode(int directory, const char *path, mode_t mode, int flags) {
    struct inode *inode;
    const char *call = path == NULL ? "fchmod" : "fchmodat";
    if (begin_either(call, directory, path, flags, true, &inode) != 0) return -1;
    if (S_ISLNK(inode->now.mode)) return call_end(EOPNOTSUPP);
    inode->now.mode = (inode->now.mode & S_IFMT) | (mode & 07777);
    inode_touch(inode);
    return call_end(0);
}

int fchmod(int descriptor, mode_t mode) {
    if (is_virtual(descriptor)) return change_mode(descriptor, NULL, mode, 0);
    return REAL("fchmod", int (*)(int, mode_t))(descriptor, mode);
}

int fchmodat(int directory, const char *path, mode_t mode, int flags) {
    if (is_virtual_path(directory, path)) return change_mode(directory, path, mode, flags);
    return REAL("fchmodat", int (*)(int, const char *, mode_t, int))(directory, path, mode, flags);
}

int chmod(const char *path, mode_t mode) {
    if (is_beneath_root(path)) return change_mode(AT_FDCWD, path, mode, 0);
    return REAL("chmod", int (*)(const char *, mode_t))(path, mode);
}

static int change_owner(int directory, const char *path, uid_t user, gid_t group, int flags) {
    struct inode *inode;
    const char *call = path == NULL ? "fchown" : "fchownat";
    if (begin_either(call, directory, path, flags, true, &inode) != 0) return -1;
    if (user != (uid_t)-1) inode->now.uid = user;
    if (group != (gid_t)-1) inode->now.gid = group;
    inode_touch(inode);
    return call_end(0);
}

int fchown(int descriptor, uid_t user, gid_t group) {
    if (is_virtual(descriptor)) return change_owner(descriptor, NULL, user, group, 0);
    return REAL("fchown", int (*)(int, uid_t, gid_t))(descriptor, user, group);
}

int fchownat(int directory, const char *path, uid_t user, gid_t group, int flags) {
    if (is_virtual_path(directory, path)) return change_owner(directory, path, user, group, flags);
    return REAL("fchownat", int (*)(int, const char *, uid_t, gid_t, int))(
        directory, path, user, group, flags);
}

int chown(const char *path, uid_t user, gid_t group) {
    if (is_beneath_root(path)) return change_owner(AT_FDCWD, path, user, group, 0);
    return REAL("chown", int (*)(const char *, uid_t, gid_t))(path, user, group);
}

// MARK: - Times

static bool set_time(struct timespec *time, const struct timespec *wanted) {
    if (wanted == NULL || wanted->tv_nsec == UTIME_NOW) {
        *time = world.now;
    } else if (wanted->tv_nsec < 0 || wanted->tv_nsec > 999999999) {
        return wanted->tv_nsec == UTIME_OMIT;
    } else {
        *time = *wanted;
    }
    return true;
}

static int change_times(
    int directory, const char *path, const struct timespec times[2], int flags
) {
    struct inode *inode;
    const char *call = path == NULL ? "futimens" : "utimensat";
    if (begin_either(call, directory, path, flags, true, &inode) != 0) return -1;
    struct timespec accessed = inode->now.accessed;
    struct timespec modified = inode->now.modified;
    bool is_valid = set_time(&accessed, times == NULL ? NULL : &times[0])
        && set_time(&modified, times == NULL ? NULL : &times[1]);
    if (!is_valid) return call_end(EINVAL);
    inode->now.accessed = accessed;
    inode->now.modified = modified;
    inode_touch(inode);
    return call_end(0);
}

int futimens(int descriptor, const struct timespec times[2]) {
    if (is_virtual(descriptor)) return change_times(descriptor, NULL, times, 0);
    return REAL("futimens", int (*)(int, const struct timespec *))(descriptor, times);
}

int utimensat(int directory, const char *path, const struct timespec times[2], int flags) {
    if (is_virtual_path(directory, path)) return change_times(directory, path, times, flags);
    return REAL("utimensat", int (*)(int, const char *, const struct timespec *, int))(
        directory, path, times, flags);
}

int utimes(const char *path, const struct timeval times[2]) {
    if (!is_beneath_root(path)) {
        return REAL("utimes", int (*)(const char *, const struct timeval *))(path, times);
    }
    if (times == NULL) return change_times(AT_FDCWD, path, NULL, 0);
    struct timespec precise[2] = {
        {times[0].tv_sec, times[0].tv_usec * 1000}, {times[1].tv_sec, times[1].tv_usec * 1000},
    };
    return change_times(AT_FDCWD, path, precise, 0);
}

int utime(const char *path, const struct utimbuf *times) {
    if (!is_beneath_root(path)) {
        return REAL("utime", int (*)(const char *, const struct utimbuf *))(path, times);
    }
    if (times == NULL) return change_times(AT_FDCWD, path, NULL, 0);
    struct timespec precise[2] = {{times->actime, 0}, {times->modtime, 0}};
    return change_times(AT_FDCWD, path, precise, 0);
}

// MARK: - The file system

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
    status->f_type = EXT4_SUPER_MAGIC;
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
