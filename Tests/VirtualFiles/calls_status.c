// The C library's functions on what is known of a file.
#if defined(__linux__)
#include "calls.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>

int begin_path(
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

int begin_descriptor(
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

int begin_either(
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
    const struct mount *mount = mount_of(inode->id);
    unsigned int device = mount != NULL && mount->is_other_device ? 1000 + mount->number : 1;
    // Each of several processes has tables of its own.
    unsigned int boot = world.process > 0 ? 0x40000000u + world.process : world.boot;
    status->st_dev = makedev(DEVICE_MAJOR, by_boot ? device + boot : device);
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
    struct inode *inode;
    if (begin_either("statx", directory, path, flags, false, &inode) != 0) return -1;
    struct stat plain;
    fill_status(&plain, inode, false);
    memset(status, 0, sizeof *status);
    const struct mount *mount = mount_of(inode->id);
    status->stx_mnt_id = 1 + (mount == NULL ? 0 : mount->number);
    status->stx_mask = STATX_BASIC_STATS | STATX_MNT_ID | STATX_BTIME;
    status->stx_attributes_mask = STATX_ATTR_MOUNT_ROOT;
    if (mount_at(inode->id) != NULL || inode->id == ROOT) {
        status->stx_attributes |= STATX_ATTR_MOUNT_ROOT;
    }
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
    status->stx_btime = timestamp(inode->born);
    status->stx_dev_major = major(plain.st_dev);
    status->stx_dev_minor = minor(plain.st_dev);
    return call_end(0);
}

// MARK: - access

int faccessat(int directory, const char *path, int mode, int flags) {
    if (!is_virtual_path(directory, path)) {
        return REAL("faccessat", int (*)(int, const char *, int, int))(
            directory, path, mode, flags);
    }
    struct inode *inode;
    if (begin_either("faccessat", directory, path, flags, false, &inode) != 0) return -1;
    // What nobody may execute is refused to the superuser, too.
    bool refused = (mode & X_OK) && !is_directory(inode) && !(inode->now.mode & 0111);
    return call_end(refused ? EACCES : refuse_access(inode, mode & 7));
}

int access(const char *path, int mode) {
    if (!is_beneath_root(path)) return REAL("access", int (*)(const char *, int))(path, mode);
    return faccessat(AT_FDCWD, path, mode, 0);
}

int euidaccess(const char *path, int mode) {
    if (!is_beneath_root(path)) return REAL("euidaccess", int (*)(const char *, int))(path, mode);
    return faccessat(AT_FDCWD, path, mode, AT_EACCESS);
}
#endif
