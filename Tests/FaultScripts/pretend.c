// Stands between a program and its system calls (LD_PRELOAD) and pretends that the machine is another:
//
//   PRETEND_CLOCK    a file with the seconds by which the wall clock is wrong, read at each look
//   PRETEND_NOW      the second since 1970 at which the wall clock stands still
//   PRETEND_NETWORK  1: every file system is NFS
//   PRETEND_READONLY a file: once it is there, nothing can be changed any more (EROFS)
//   PRETEND_TRACE    a file to which the directory and the name of each look at a path are added
//   PRETEND_SECONDS  1: the file system keeps times in whole seconds
//   PRETEND_SAVE     a path; another program saves PATH.saved there right before this one renames
//                    something to or from its name
//   PRETEND_NOLOCKS  1: no file system has locks
//   PRETEND_HURRY    a number; the clock since the machine's start runs so many times as fast
//   PRETEND_FUSE     1: every file system is one of FUSE
//   PRETEND_LUSTRE   1: every file system is one of Lustre
//   PRETEND_INODES   a number that is added to all inode numbers that the program sees
//   PRETEND_WATCHES  how many directories can be watched, one call after the other
//   PRETEND_NOTIMES  1: times of files cannot be set (EPERM)
//   PRETEND_NOMODES  1: permissions of files cannot be set (EPERM)
//   PRETEND_NODIRSYNC 1: directories cannot be synchronized (EINVAL)
//   PRETEND_APART    1: nothing can be renamed or linked from one directory to another (EXDEV)
//   PRETEND_NOLINKS  1: no file gets a second name (EPERM)
//   PRETEND_NAMES    characters that no new name may have (EINVAL)
//   PRETEND_LONGEST  how many bytes a name may have (ENAMETOOLONG)
//   PRETEND_QUOTA    1: nothing can be written to temporary files (EDQUOT)
//   PRETEND_FOLDING  1: in a directory, names that differ by the case of ASCII letters, or by how
//                    an "e" with an acute accent is spelled, are one; 2: with an inode number for
//                    each of them
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static long real(long number, long a, long b, long c, long d, long e) {
    static long (*call)(long, ...);
    if (!call) *(void **)&call = dlsym(RTLD_NEXT, "syscall");
    return call(number, a, b, c, d, e);
}

// MARK: - The clock

static time_t offset(void) {
    const char *path = getenv("PRETEND_CLOCK");
    if (!path) return 0;
    char text[32] = "";
    int file = (int)real(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0);
    if (file < 0) return 0;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    return length > 0 ? (time_t)atoll(text) : 0;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)real(SYS_clock_gettime, clock, (long)now, 0, 0, 0);
    if (result == 0 && clock == CLOCK_REALTIME) {
        const char *still = getenv("PRETEND_NOW");
        if (still) *now = (struct timespec){.tv_sec = (time_t)atoll(still)};
        now->tv_sec += offset();
    }
    const char *hurry = getenv("PRETEND_HURRY");
    if (result == 0 && hurry && clock == CLOCK_BOOTTIME) {
        int64_t time = ((int64_t)now->tv_sec * 1000000000 + now->tv_nsec) * atoll(hurry);
        *now = (struct timespec){.tv_sec = time / 1000000000, .tv_nsec = time % 1000000000};
    }
    return result;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec time;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &time);
    now->tv_sec = time.tv_sec;
    now->tv_usec = time.tv_nsec / 1000;
    return result;
}

EXPORT time_t time(time_t *now) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    if (now) *now = time.tv_sec;
    return time.tv_sec;
}

// MARK: - The file system

EXPORT int fstatfs(int descriptor, struct statfs *status) {
    int result = (int)real(SYS_fstatfs, descriptor, (long)status, 0, 0, 0);
    if (result == 0 && getenv("PRETEND_NETWORK")) status->f_type = NFS_SUPER_MAGIC;
    if (result == 0 && getenv("PRETEND_FUSE")) status->f_type = 0x65735546;
    if (result == 0 && getenv("PRETEND_LUSTRE")) status->f_type = 0x0BD00BD0;
    return result;
}

EXPORT int flock(int descriptor, int operation) {
    if (getenv("PRETEND_NOLOCKS")) {
        errno = ENOSYS;
        return -1;
    }
    return (int)real(SYS_flock, descriptor, operation, 0, 0, 0);
}

static int control(int descriptor, int command, long argument) {
    int locks = command == F_SETLK || command == F_SETLKW || command == F_GETLK;
    if (locks && getenv("PRETEND_NOLOCKS")) {
        errno = ENOLCK;
        return -1;
    }
    return (int)real(SYS_fcntl, descriptor, command, argument, 0, 0);
}

EXPORT int fcntl(int descriptor, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    return control(descriptor, command, argument);
}

EXPORT int fcntl64(int descriptor, int command, ...) {
    va_list rest;
    va_start(rest, command);
    long argument = va_arg(rest, long);
    va_end(rest);
    return control(descriptor, command, argument);
}

EXPORT int inotify_add_watch(int queue, const char *path, uint32_t mask) {
    static _Atomic long made;
    const char *most = getenv("PRETEND_WATCHES");
    if (most && ++made > atol(most)) {
        errno = ENOSPC;
        return -1;
    }
    return (int)real(SYS_inotify_add_watch, queue, (long)path, mask, 0, 0);
}

// MARK: - Names

#define NAME 4352

/// Keeps what is asked for: the directory and the name, each with a zero behind it.
static void trace(int directory, const char *name) {
    const char *path = getenv("PRETEND_TRACE");
    if (!path || !name) return;
    int kept = errno;
    char line[2 * NAME + 64] = "", link[64];
    if (*name != '/') {
        if (directory == AT_FDCWD) strcpy(link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", directory);
        if (real(SYS_readlinkat, AT_FDCWD, (long)link, (long)line, NAME, 0) < 0) strcpy(line, "?");
    }
    size_t first = strlen(line) + 1, second = strnlen(name, NAME - 1) + 1;
    memcpy(line + first, name, second - 1);
    int file = (int)real(SYS_openat, AT_FDCWD, (long)path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC,
                         0600, 0);
    if (file >= 0) {
        // One call, so that threads do not mix.
        if (real(SYS_write, file, (long)line, (long)(first + second), 0, 0) < 0) abort();
        real(SYS_close, file, 0, 0, 0, 0);
    }
    errno = kept;
}

/// True if the names are one where names fold.
static int alike(const char *a, const char *b) {
    while (*a && *b) {
        int composed[2] = {strncmp(a, "\xC3\xA9", 2) == 0, strncmp(b, "\xC3\xA9", 2) == 0},
            apart[2] = {strncmp(a, "e\xCC\x81", 3) == 0, strncmp(b, "e\xCC\x81", 3) == 0};
        if ((composed[0] || apart[0]) && (composed[1] || apart[1])) {
            a += apart[0] ? 3 : 2;
            b += apart[1] ? 3 : 2;
        } else if (strncasecmp(a++, b++, 1) != 0) {
            return 0;
        }
    }
    return !*a && !*b;
}

/// The name that `name` has in its directory, if another one that is the same there exists; the
/// same of each directory on the way.
static const char *folded(int directory, const char *name, char *buffer) {
    struct stat status;
    trace(directory, name);
    if (!getenv("PRETEND_FOLDING") || !name || !*name || strlen(name) >= NAME / 2) return name;
    if (real(SYS_newfstatat, directory, (long)name, (long)&status, AT_SYMLINK_NOFOLLOW, 0) == 0)
        return name;
    size_t length = 0;
    for (const char *start = name; *start;) {
        size_t count = strcspn(start, "/");
        char part[NAME];
        memcpy(part, start, count);
        part[count] = 0;
        strcpy(buffer + length, length ? "" : ".");
        int file = (int)real(SYS_openat, directory, (long)buffer, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0, 0);
        DIR *entries = file < 0 || !count ? NULL : fdopendir(file);
        const char *found = part;
        for (struct dirent *entry; entries && (entry = readdir(entries));) {
            if (!alike(entry->d_name, part)) continue;
            found = entry->d_name;
            if (strcmp(found, part) == 0) break;
        }
        strcpy(buffer + length, found);
        length += strlen(buffer + length);
        if (entries) closedir(entries);
        else if (file >= 0) real(SYS_close, file, 0, 0, 0, 0);
        start += count;
        while (*start == '/') buffer[length++] = *start++;
        buffer[length] = 0;
    }
    return buffer;
}

/// True, with `errno` set, once the disk is only to be read.
static int frozen(void) {
    const char *path = getenv("PRETEND_READONLY");
    int kept = errno;
    if (path && real(SYS_faccessat, AT_FDCWD, (long)path, F_OK, 0, 0) == 0) {
        errno = EROFS;
        return 1;
    }
    errno = kept;
    return 0;
}

static const char *last_part(const char *path) {
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
}

/// False, with `errno` set, for a name that this file system does not have.
static int possible(const char *path) {
    const char *name = last_part(path), *refused = getenv("PRETEND_NAMES"),
               *longest = getenv("PRETEND_LONGEST");
    if (refused && strpbrk(name, refused)) return errno = EINVAL, 0;
    if (longest && strlen(name) > strtoul(longest, NULL, 10)) return errno = ENAMETOOLONG, 0;
    return 1;
}
/// The same for a look, which tells no more than that a name is too long.
static int thinkable(const char *path) {
    const char *longest = getenv("PRETEND_LONGEST");
    if (longest && strlen(last_part(path)) > strtoul(longest, NULL, 10))
        return errno = ENAMETOOLONG, 0;
    return 1;
}

/// False, with `errno` set, where nothing leads from one directory to the other.
static int within_reach(int from, int to) {
    struct stat a, b;
    if (!getenv("PRETEND_APART") || from == to) return 1;
    if (real(SYS_fstat, from, (long)&a, 0, 0, 0) != 0 || real(SYS_fstat, to, (long)&b, 0, 0, 0) != 0)
        return 1;
    if (a.st_ino == b.st_ino && a.st_dev == b.st_dev) return 1;
    errno = EXDEV;
    return 0;
}

static int refused(const char *variable) {
    if (!getenv(variable)) return 0;
    errno = EPERM;
    return 1;
}

EXPORT int fchmod(int descriptor, mode_t mode) {
    if (refused("PRETEND_NOMODES")) return -1;
    return (int)real(SYS_fchmod, descriptor, mode, 0, 0, 0);
}
EXPORT int futimens(int descriptor, const struct timespec times[2]) {
    if (refused("PRETEND_NOTIMES")) return -1;
    return (int)real(SYS_utimensat, descriptor, 0, (long)times, 0, 0);
}
EXPORT int utimensat(int directory, const char *name, const struct timespec times[2], int flags) {
    if (refused("PRETEND_NOTIMES")) return -1;
    return (int)real(SYS_utimensat, directory, (long)name, (long)times, flags, 0);
}

#define CHANGES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)

EXPORT int openat(int directory, const char *name, int flags, ...) {
    char buffer[NAME];
    if ((flags & CHANGES) && frozen()) return -1;
    if ((flags & O_CREAT) && !possible(name)) return -1;
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return (int)real(SYS_openat, directory, (long)folded(directory, name, buffer), flags, mode, 0);
}
/// A file system without fractions of seconds, or whose files are changed behind their ctime.
static int seconds_only(int result, struct stat *status) {
    if (result == 0 && getenv("PRETEND_CTIME")) status->st_ctim = status->st_mtim;
    if (result == 0 && getenv("PRETEND_SECONDS"))
        status->st_atim.tv_nsec = status->st_mtim.tv_nsec = status->st_ctim.tv_nsec = 0;
    return result;
}
EXPORT int fstat(int descriptor, struct stat *status) {
    return seconds_only((int)real(SYS_fstat, descriptor, (long)status, 0, 0, 0), status);
}
EXPORT int fstatat(int directory, const char *restrict name, struct stat *restrict status, int flags) {
    char buffer[NAME];
    if (!thinkable(name)) return -1;
    const char *found = folded(directory, name, buffer);
    int result = (int)real(SYS_newfstatat, directory, (long)found, (long)status, flags, 0);
    if (result == 0 && found != name && *getenv("PRETEND_FOLDING") == '2') status->st_ino++;
    return seconds_only(result, status);
}
EXPORT int statx(int directory, const char *restrict name, int flags, unsigned mask,
                 struct statx *restrict status) {
    char buffer[NAME];
    if (!thinkable(name)) return -1;
    const char *found = *name ? folded(directory, name, buffer) : name;
    int result = (int)real(SYS_statx, directory, (long)found, flags, mask, (long)status);
    const char *moved = getenv("PRETEND_INODES");
    if (result == 0 && getenv("PRETEND_CTIME")) status->stx_ctime = status->stx_mtime;
    if (result == 0 && moved) status->stx_ino += strtoull(moved, NULL, 10);
    if (result == 0 && found != name && *getenv("PRETEND_FOLDING") == '2') status->stx_ino++;
    if (result == 0 && getenv("PRETEND_SECONDS"))
        status->stx_atime.tv_nsec = status->stx_mtime.tv_nsec = status->stx_ctime.tv_nsec = 0;
    return result;
}
EXPORT int unlinkat(int directory, const char *name, int flags) {
    char buffer[NAME];
    if (frozen()) return -1;
    return (int)real(SYS_unlinkat, directory, (long)folded(directory, name, buffer), flags, 0, 0);
}
EXPORT int mkdirat(int directory, const char *name, mode_t mode) {
    char buffer[NAME];
    if (frozen() || !possible(name)) return -1;
    return (int)real(SYS_mkdirat, directory, (long)folded(directory, name, buffer), mode, 0, 0);
}

/// What an editor does at the worst moment, once.
static void save(const char *old, const char *new) {
    const char *path = getenv("PRETEND_SAVE");
    if (!path || (strcmp(last_part(path), last_part(old)) != 0
                  && strcmp(last_part(path), last_part(new)) != 0)) return;
    char saved[NAME];
    int kept = errno;
    snprintf(saved, sizeof saved, "%s.saved", path);
    real(SYS_renameat2, AT_FDCWD, (long)saved, AT_FDCWD, (long)path, 0);
    errno = kept;
}

EXPORT int renameat2(int from, const char *old, int to, const char *new, unsigned flags) {
    char buffers[2][NAME];
    if (frozen() || !possible(new) || !within_reach(from, to)) return -1;
    save(old, new);
    return (int)real(SYS_renameat2, from, (long)folded(from, old, buffers[0]), to,
                     (long)folded(to, new, buffers[1]), flags);
}
EXPORT int renameat(int from, const char *old, int to, const char *new) {
    return renameat2(from, old, to, new, 0);
}
EXPORT int linkat(int from, const char *old, int to, const char *new, int flags) {
    char buffers[2][NAME];
    if (frozen() || !possible(new) || refused("PRETEND_NOLINKS") || !within_reach(from, to))
        return -1;
    return (int)real(SYS_linkat, from, (long)folded(from, old, buffers[0]), to,
                     (long)folded(to, new, buffers[1]), flags);
}

/// openat2 has no function of its own.
EXPORT long syscall(long number, ...) {
    long values[5];
    char buffer[NAME];
    va_list arguments;
    va_start(arguments, number);
    for (int i = 0; i < 5; i++) values[i] = va_arg(arguments, long);
    va_end(arguments);
    if (number == SYS_openat2) {
        const struct open_how *how = (const struct open_how *)values[2];
        if ((how->flags & CHANGES) && frozen()) return -1;
        values[1] = (long)folded((int)values[0], (const char *)values[1], buffer);
    }
    return real(number, values[0], values[1], values[2], values[3], values[4]);
}

// MARK: - Contents

static int frozen_file(int descriptor) {
    struct stat status;
    if (!getenv("PRETEND_READONLY")) return 0;
    // Sockets and pipes go on.
    return fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && frozen();
}

/// True, with `errno` set, for a temporary file.
static int over_quota(int descriptor) {
    char link[64], path[NAME] = "";
    if (!getenv("PRETEND_QUOTA")) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    if (real(SYS_readlinkat, AT_FDCWD, (long)link, (long)path, NAME - 1, 0) < 0) return 0;
    if (!strstr(path, "/partial/")) return 0;
    errno = EDQUOT;
    return 1;
}

EXPORT ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    if (frozen_file(descriptor) || over_quota(descriptor)) return -1;
    return real(SYS_pwrite64, descriptor, (long)bytes, (long)count, offset, 0);
}
EXPORT ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}
EXPORT ssize_t write(int descriptor, const void *bytes, size_t count) {
    if (frozen_file(descriptor)) return -1;
    return real(SYS_write, descriptor, (long)bytes, (long)count, 0, 0);
}
EXPORT int ftruncate(int descriptor, off_t size) {
    if (frozen_file(descriptor)) return -1;
    return (int)real(SYS_ftruncate, descriptor, size, 0, 0, 0);
}
EXPORT int ftruncate64(int descriptor, off_t size) { return ftruncate(descriptor, size); }
EXPORT int fallocate(int descriptor, int mode, off_t offset, off_t size) {
    if (frozen_file(descriptor)) return -1;
    return (int)real(SYS_fallocate, descriptor, mode, offset, size, 0);
}
EXPORT int fsync(int descriptor) {
    struct stat status;
    if (frozen_file(descriptor)) return -1;
    if (getenv("PRETEND_NODIRSYNC") && fstat(descriptor, &status) == 0 && S_ISDIR(status.st_mode))
        return errno = EINVAL, -1;
    return (int)real(SYS_fsync, descriptor, 0, 0, 0, 0);
}
EXPORT int fdatasync(int descriptor) {
    if (frozen_file(descriptor)) return -1;
    return (int)real(SYS_fdatasync, descriptor, 0, 0, 0, 0);
}
EXPORT int open(const char *name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return openat(AT_FDCWD, name, flags, mode);
}
EXPORT int open64(const char *name, int flags, ...) {
    va_list arguments;
    va_start(arguments, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return openat(AT_FDCWD, name, flags, mode);
}
EXPORT int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }

// MARK: - Looks at names that SQLite and the C library take

EXPORT int stat(const char *restrict name, struct stat *restrict status) {
    return fstatat(AT_FDCWD, name, status, 0);
}
EXPORT int stat64(const char *restrict name, struct stat64 *restrict status) {
    return fstatat(AT_FDCWD, name, (struct stat *)status, 0);
}
EXPORT int lstat(const char *restrict name, struct stat *restrict status) {
    return fstatat(AT_FDCWD, name, status, AT_SYMLINK_NOFOLLOW);
}
EXPORT int lstat64(const char *restrict name, struct stat64 *restrict status) {
    return fstatat(AT_FDCWD, name, (struct stat *)status, AT_SYMLINK_NOFOLLOW);
}
EXPORT int access(const char *name, int mode) {
    trace(AT_FDCWD, name);
    return (int)real(SYS_faccessat, AT_FDCWD, (long)name, mode, 0, 0);
}
EXPORT ssize_t readlinkat(int directory, const char *restrict name, char *restrict buffer, size_t size) {
    trace(directory, name);
    return real(SYS_readlinkat, directory, (long)name, (long)buffer, (long)size, 0);
}
