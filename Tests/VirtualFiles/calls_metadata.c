// The C library's functions that change what is known of a file.
#if defined(__linux__)
#include "calls.h"

#include <sys/stat.h>
#include <sys/time.h>
#include <utime.h>

// MARK: - Modes and owners

static int change_mode(int directory, const char *path, mode_t mode, int flags) {
    struct inode *inode;
    const char *call = path == NULL ? "fchmod" : "fchmodat";
    if (begin_either(call, directory, path, flags, true, &inode) != 0) return -1;
    if (S_ISLNK(inode->now.mode)) return call_end(EOPNOTSUPP);
    int code = refuse_owner(inode);
    if (code != 0) return call_end(code);
    inode->now.mode = (inode->now.mode & S_IFMT) | (mode & 07777);
    acl_follow_mode(inode);
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
    int code = refuse_group(inode, user, group);
    if (code != 0) return call_end(code);
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
        *time = stamp_of(*wanted);
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
    int code = refuse_owner(inode);
    if (code != 0 && times == NULL) code = refuse_access(inode, 2);
    if (code != 0) return call_end(code);
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
#endif
