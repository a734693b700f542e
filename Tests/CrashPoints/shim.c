// Stands between a program and its system calls (LD_PRELOAD): counts those that change files below
// chosen directories, and at the N-th kills the program, lets the call fail, or writes all of them
// down. What goes to sockets, pipes and files elsewhere is not counted.
//
//   CRASH_ROOTS     directories, separated by ':'; a call counts if it changes something below one
//   CRASH_KILL      N: SIGKILL before the N-th call
//   CRASH_TORN      1: of an N-th call that writes, the first half is done before
//   CRASH_FAIL      N: the N-th call fails
//   CRASH_ERRNO     with this error number
//   CRASH_STICKY    1: and so does every later one
//   CRASH_CLASSES   only calls of these classes count, such as ",write,sync,"
//   CRASH_FIRED     a file that says which call the fault hit
//   CRASH_COUNTS    a file that says at the end how many calls of each class there were
//   CRASH_RECORD    a file for the list of all calls, one a line; the written bytes go to FILE.data
//   CRASH_BOOT_ID   a file that is opened in place of the kernel's boot ID; the machine started
//                   when it was written
//   CRASH_NO_SYNC   1: nothing waits for the disk
//   CRASH_SERVE     1: the program stops before its first line and begins anew for each line on
//                   its standard input, see serve()
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROOTS 8
#define TEXT 4352
#define EXPORT __attribute__((visibility("default")))

static const char *roots[ROOTS];
static size_t root_lengths[ROOTS];
static int root_count;
static long kill_at, fail_at;
static int fail_errno, is_sticky, is_torn, never_syncs;
static const char *classes, *fired_path, *counts_path, *boot_id_path;
static int record_file = -1, record_data = -1;
static long long data_length;
static atomic_long counter;
static const char *const class_names[] = {
    "open", "write", "sync", "truncate", "allocate", "name", "remove", "status", "owner",
};
#define CLASSES (sizeof class_names / sizeof *class_names)
static atomic_long class_counters[CLASSES];
static pthread_mutex_t record_lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(result, name, ...)                                                                    \
    static result (*real_##name)(__VA_ARGS__);
REAL(long, syscall, long, ...)
REAL(int, clock_gettime, clockid_t, struct timespec *)
REAL(int, timerfd_create, int, int)
REAL(int, timerfd_settime, int, int, const struct itimerspec *, struct itimerspec *)
REAL(int, openat, int, const char *, int, ...)
REAL(ssize_t, write, int, const void *, size_t)
REAL(ssize_t, pwrite, int, const void *, size_t, off_t)
REAL(ssize_t, writev, int, const struct iovec *, int)
REAL(ssize_t, pwritev, int, const struct iovec *, int, off_t)
REAL(int, fsync, int)
REAL(int, fdatasync, int)
REAL(int, syncfs, int)
REAL(int, ftruncate, int, off_t)
REAL(int, fallocate, int, int, off_t, off_t)
REAL(int, renameat2, int, const char *, int, const char *, unsigned)
REAL(int, unlinkat, int, const char *, int)
REAL(int, mkdirat, int, const char *, mode_t)
REAL(int, linkat, int, const char *, int, const char *, int)
REAL(int, symlinkat, const char *, int, const char *)
REAL(int, futimens, int, const struct timespec[2])
REAL(int, utimensat, int, const char *, const struct timespec[2], int)
REAL(int, fchmod, int, mode_t)
REAL(int, fchmodat, int, const char *, mode_t, int)
REAL(int, fchown, int, uid_t, gid_t)
REAL(int, ioctl, int, unsigned long, ...)
REAL(ssize_t, copy_file_range, int, off_t *, int, off_t *, size_t, unsigned)

/// The variables of one run. The environment itself stays as it was at first: the program finds its
/// arguments beside it.
static char *variables;

static const char *variable(const char *name) {
    size_t length = strlen(name);
    for (char *text = variables; text; text = strchr(text, '\t')) {
        text += *text == '\t';
        if (strncmp(text, name, length) == 0 && text[length] == '=')
            return strndup(text + length + 1, strcspn(text + length + 1, "\t"));
    }
    return getenv(name);
}

static long number(const char *name) {
    const char *text = variable(name);
    return text ? atol(text) : 0;
}

static int created(const char *path) {
    return real_openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static int has_begun;

/// Libraries that are loaded before this one call already from their own beginnings.
static void begin(void) {
    if (has_begun) return;
    has_begun = 1;
#define FIND(name) *(void **)&real_##name = dlsym(RTLD_NEXT, #name);
    FIND(syscall) FIND(clock_gettime) FIND(timerfd_create) FIND(timerfd_settime) FIND(openat)
    FIND(write) FIND(pwrite) FIND(writev) FIND(pwritev) FIND(fsync)
    FIND(fdatasync) FIND(syncfs) FIND(ftruncate) FIND(fallocate) FIND(renameat2) FIND(unlinkat)
    FIND(mkdirat) FIND(linkat) FIND(symlinkat) FIND(futimens) FIND(utimensat) FIND(fchmod)
    FIND(fchmodat) FIND(fchown) FIND(ioctl) FIND(copy_file_range)
    const char *list = variable("CRASH_ROOTS");
    char *text = list ? strdup(list) : NULL;
    if (text)
        for (char *part = strtok(text, ":"); part && root_count < ROOTS; part = strtok(NULL, ":")) {
            root_lengths[root_count] = strlen(part);
            roots[root_count++] = part;
        }
    kill_at = number("CRASH_KILL");
    fail_at = number("CRASH_FAIL");
    fail_errno = (int)number("CRASH_ERRNO");
    is_sticky = (int)number("CRASH_STICKY");
    is_torn = (int)number("CRASH_TORN");
    never_syncs = (int)number("CRASH_NO_SYNC");
    classes = variable("CRASH_CLASSES");
    fired_path = variable("CRASH_FIRED");
    counts_path = variable("CRASH_COUNTS");
    boot_id_path = variable("CRASH_BOOT_ID");
    const char *record = variable("CRASH_RECORD");
    if (record) {
        char data[TEXT];
        snprintf(data, sizeof data, "%s.data", record);
        record_file = created(record);
        record_data = created(data);
    }
    // Only this program: what it starts is somebody else.
    unsetenv("LD_PRELOAD");
}

/// What is in place of standard input, output and errors from now on.
static void redirect(int descriptor, const char *path, int flags) {
    int file = path ? real_openat(AT_FDCWD, path, flags, 0600) : -1;
    if (file < 0 || dup2(file, descriptor) < 0) _exit(126);
    close(file);
}

/// Loading forty libraries takes as long as all that a short run does. So it is done once: of what
/// is loaded then, a copy runs for each line "OUTPUT<tab>ERRORS[<tab>NAME=VALUE]...", with these
/// variables and files; its process and its status are the answers.
static void serve(void) {
    static char line[8 * TEXT];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = 0;
        pid_t child = fork();
        if (child < 0) _exit(126);
        if (child == 0) {
            char *rest = line;
            redirect(0, "/dev/null", O_RDONLY);
            redirect(1, strsep(&rest, "\t"), O_WRONLY | O_CREAT | O_TRUNC);
            redirect(2, strsep(&rest, "\t"), O_WRONLY | O_CREAT | O_TRUNC);
            variables = rest;
            return;
        }
        dprintf(1, "%d\n", child);
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
        dprintf(1, "%d\n", WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status));
    }
    _exit(0);
}

__attribute__((constructor)) static void load(void) {
    begin();
    if (!number("CRASH_SERVE")) return;
    serve();
    has_begun = root_count = 0;
    begin();
}

// MARK: - What a call is about

static int is_below(const char *path) {
    for (int i = 0; i < root_count; i++)
        if (strncmp(path, roots[i], root_lengths[i]) == 0
            && (path[root_lengths[i]] == '/' || path[root_lengths[i]] == 0))
            return 1;
    return 0;
}

static int path_of(int descriptor, char *buffer) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, buffer, TEXT - 1);
    if (length < 0) return 0;
    buffer[length] = 0;
    return 1;
}

/// The absolute path of `name` in `directory`; "." components stay, which no caller minds.
static int resolve(int directory, const char *name, char *buffer) {
    begin();
    if (name == NULL || root_count == 0) return 0;
    size_t length = 0;
    if (name[0] != '/') {
        if (directory == AT_FDCWD) {
            if (getcwd(buffer, TEXT / 2) == NULL) return 0;
        } else if (!path_of(directory, buffer)) {
            return 0;
        }
        length = strlen(buffer);
        buffer[length++] = '/';
    }
    snprintf(buffer + length, TEXT - length, "%s", name);
    return is_below(buffer);
}

/// True for a regular file or directory below a root.
static int concerns(int descriptor, char *path) {
    begin();
    if (root_count == 0 || !path_of(descriptor, path) || path[0] != '/') return 0;
    return is_below(path);
}

static unsigned long long inode(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? (unsigned long long)status.st_ino : 0;
}

static unsigned permissions(const char *path) {
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_mode & 07777 : 0;
}

// MARK: - Faults

static void tell(long n, const char *call, const char *path) {
    if (!fired_path) return;
    int file = real_openat(AT_FDCWD, fired_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char text[TEXT + 64];
    int length = snprintf(text, sizeof text, "%ld\t%s\t%s\n", n, call, path);
    if (file < 0) return;
    real_write(file, text, (size_t)length);
    close(file);
}

/// Counts one call; an error number if it must fail. `half` does the first half of a write.
struct half {
    int descriptor;
    const void *bytes;
    size_t count;
    off_t offset;
};

static int fault(const char *class, const char *call, const char *path, const struct half *half) {
    for (size_t i = 0; i < CLASSES; i++)
        if (strcmp(class, class_names[i]) == 0) atomic_fetch_add(&class_counters[i], 1);
    if (classes) {
        char text[32];
        snprintf(text, sizeof text, ",%s,", class);
        if (!strstr(classes, text)) return 0;
    }
    long n = atomic_fetch_add(&counter, 1) + 1;
    if (kill_at && n == kill_at) {
        if (is_torn && half && half->count > 1) {
            if (half->offset < 0) real_write(half->descriptor, half->bytes, half->count / 2);
            else real_pwrite(half->descriptor, half->bytes, half->count / 2, half->offset);
        }
        tell(n, call, path);
        kill(getpid(), SIGKILL);
        for (;;) pause();
    }
    if (fail_at && (n == fail_at || (is_sticky && n > fail_at))) {
        if (n == fail_at) tell(n, call, path);
        return fail_errno;
    }
    return 0;
}

/// The program ends so, and by nothing else.
EXPORT __attribute__((noreturn)) void _exit(int status) {
    int file = counts_path
        ? real_openat(AT_FDCWD, counts_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    for (size_t i = 0; file >= 0 && i < CLASSES; i++) {
        char text[64];
        int length = snprintf(text, sizeof text, "%s\t%ld\n", class_names[i],
                              atomic_load(&class_counters[i]));
        real_write(file, text, (size_t)length);
    }
    real_syscall(SYS_exit_group, status);
    for (;;) pause();
}

// MARK: - The record

static void lock(void) {
    if (record_file >= 0) pthread_mutex_lock(&record_lock);
}

static void unlock(void) {
    if (record_file >= 0) {
        int code = errno;
        pthread_mutex_unlock(&record_lock);
        errno = code;
    }
}

__attribute__((format(printf, 1, 2))) static void record(const char *format, ...) {
    if (record_file < 0) return;
    int code = errno;
    char text[3 * TEXT];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text - 1, format, arguments);
    va_end(arguments);
    if (length > 0 && length < (int)sizeof text - 1) {
        text[length++] = '\n';
        real_write(record_file, text, (size_t)length);
    }
    errno = code;
}

static void record_write(int descriptor, const void *bytes, ssize_t count, off_t offset) {
    if (record_file < 0 || count <= 0) return;
    int code = errno;
    record("write\t%llu\t%lld\t%zd\t%lld", inode(descriptor), (long long)offset, count, data_length);
    real_pwrite(record_data, bytes, (size_t)count, data_length);
    data_length += count;
    errno = code;
}

/// Ends a wrapper before its call: the call is counted, and may fail or never happen.
#define COUNT(class, call, path, half)                                                             \
    do {                                                                                           \
        lock();                                                                                    \
        int code_ = fault(class, call, path, half);                                                \
        if (code_) {                                                                               \
            unlock();                                                                              \
            errno = code_;                                                                         \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

// MARK: - Opening

static int opened(int directory, const char *name, int flags, mode_t mode, const char *call) {
    char path[TEXT];
    begin();
    if (boot_id_path && name && strcmp(name, "/proc/sys/kernel/random/boot_id") == 0)
        return real_openat(AT_FDCWD, boot_id_path, flags, mode);
    int changes = (flags & (O_CREAT | O_TRUNC)) != 0 && (flags & __O_TMPFILE) != __O_TMPFILE;
    if (!changes || !resolve(directory, name, path))
        return real_openat(directory, name, flags, mode);
    struct stat before;
    int existed = fstatat(directory, name, &before, AT_SYMLINK_NOFOLLOW) == 0;
    // Opening what is there changes nothing.
    if (existed && !(flags & O_TRUNC)) return real_openat(directory, name, flags, mode);
    COUNT("open", call, path, NULL);
    int result = real_openat(directory, name, flags, mode);
    if (result >= 0)
        record("open\t%llu\t%s\t%d\t%o", inode(result), path, !existed, permissions(path));
    unlock();
    return result;
}

static const long long second = 1000000000;

static long long nanoseconds(struct timespec time) {
    return time.tv_sec * second + time.tv_nsec;
}

static struct timespec timespec(long long nanoseconds) {
    return (struct timespec){nanoseconds / second, nanoseconds % second};
}

/// Since when the machine is on. The ticks of a file system's clock lag behind a little.
EXPORT int clock_gettime(clockid_t clock, struct timespec *now) {
    begin();
    struct stat status;
    if (clock != CLOCK_BOOTTIME || !boot_id_path || stat(boot_id_path, &status) != 0)
        return real_clock_gettime(clock, now);
    real_clock_gettime(CLOCK_REALTIME, now);
    const long long lag = 50000000;
    long long since = nanoseconds(*now) - nanoseconds(status.st_mtim) - lag;
    *now = timespec(since < 0 ? 0 : since);
    return 0;
}

// The kernel's timers know nothing of that: one that is set for a pretended time would be over at
// once, and whoever waits for it would set it again and again.
static atomic_int boot_timer = -1;

EXPORT int timerfd_create(int clock, int flags) {
    begin();
    int result = real_timerfd_create(clock, flags);
    if (clock == CLOCK_BOOTTIME) atomic_store(&boot_timer, result);
    return result;
}

EXPORT int timerfd_settime(int timer, int flags, const struct itimerspec *wanted,
                           struct itimerspec *before) {
    begin();
    if (timer != atomic_load(&boot_timer) || !(flags & TFD_TIMER_ABSTIME)
        || nanoseconds(wanted->it_value) == 0)
        return real_timerfd_settime(timer, flags, wanted, before);
    struct timespec pretended, now;
    clock_gettime(CLOCK_BOOTTIME, &pretended);
    real_clock_gettime(CLOCK_BOOTTIME, &now);
    struct itimerspec shifted = *wanted;
    shifted.it_value = timespec(
        nanoseconds(wanted->it_value) - nanoseconds(pretended) + nanoseconds(now));
    return real_timerfd_settime(timer, flags, &shifted, before);
}

#define MODE(flags)                                                                                \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                       \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        mode = va_arg(arguments, mode_t);                                                          \
        va_end(arguments);                                                                         \
    }

EXPORT int open(const char *name, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, name, flags, mode, "open");
}
EXPORT int open64(const char *name, int flags, ...) {
    MODE(flags)
    return opened(AT_FDCWD, name, flags, mode, "open");
}
EXPORT int openat(int directory, const char *name, int flags, ...) {
    MODE(flags)
    return opened(directory, name, flags, mode, "openat");
}
EXPORT int openat64(int directory, const char *name, int flags, ...) {
    MODE(flags)
    return opened(directory, name, flags, mode, "openat");
}
EXPORT int creat(const char *name, mode_t mode) {
    return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode, "creat");
}
EXPORT int __open_2(const char *name, int flags) {
    return opened(AT_FDCWD, name, flags, 0, "open");
}
EXPORT int __open64_2(const char *name, int flags) {
    return opened(AT_FDCWD, name, flags, 0, "open");
}
EXPORT int __openat_2(int directory, const char *name, int flags) {
    return opened(directory, name, flags, 0, "openat");
}
EXPORT int __openat64_2(int directory, const char *name, int flags) {
    return opened(directory, name, flags, 0, "openat");
}

// MARK: - Writing

EXPORT ssize_t write(int descriptor, const void *bytes, size_t count) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_write(descriptor, bytes, count);
    struct half half = {descriptor, bytes, count, -1};
    COUNT("write", "write", path, &half);
    off_t offset = lseek(descriptor, 0, SEEK_CUR);
    ssize_t result = real_write(descriptor, bytes, count);
    record_write(descriptor, bytes, result, offset);
    unlock();
    return result;
}
EXPORT ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_pwrite(descriptor, bytes, count, offset);
    struct half half = {descriptor, bytes, count, offset};
    COUNT("write", "pwrite", path, &half);
    ssize_t result = real_pwrite(descriptor, bytes, count, offset);
    record_write(descriptor, bytes, result, offset);
    unlock();
    return result;
}
EXPORT ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
    return pwrite(descriptor, bytes, count, offset);
}

/// Gathers the pieces, so that one call stays one call. A run has no large ones.
static ssize_t gathered(int descriptor, const struct iovec *pieces, int count, off_t offset) {
    size_t length = 0, filled = 0;
    for (int i = 0; i < count; i++) length += pieces[i].iov_len;
    char *bytes = malloc(length ? length : 1);
    if (bytes == NULL) {
        errno = ENOMEM;
        return -1;
    }
    for (int i = 0; i < count; i++) {
        memcpy(bytes + filled, pieces[i].iov_base, pieces[i].iov_len);
        filled += pieces[i].iov_len;
    }
    ssize_t result = offset < 0 ? write(descriptor, bytes, length)
                                : pwrite(descriptor, bytes, length, offset);
    int code = errno;
    free(bytes);
    errno = code;
    return result;
}
EXPORT ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_writev(descriptor, pieces, count);
    return gathered(descriptor, pieces, count, -1);
}
EXPORT ssize_t pwritev(int descriptor, const struct iovec *pieces, int count, off_t offset) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_pwritev(descriptor, pieces, count, offset);
    return gathered(descriptor, pieces, count, offset);
}
EXPORT ssize_t pwritev64(int descriptor, const struct iovec *pieces, int count, off64_t offset) {
    return pwritev(descriptor, pieces, count, offset);
}

EXPORT int ftruncate(int descriptor, off_t size) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_ftruncate(descriptor, size);
    COUNT("truncate", "ftruncate", path, NULL);
    int result = real_ftruncate(descriptor, size);
    if (result == 0) record("truncate\t%llu\t%lld", inode(descriptor), (long long)size);
    unlock();
    return result;
}
EXPORT int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

EXPORT int fallocate(int descriptor, int mode, off_t offset, off_t length) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_fallocate(descriptor, mode, offset, length);
    COUNT("allocate", "fallocate", path, NULL);
    int result = real_fallocate(descriptor, mode, offset, length);
    if (result == 0)
        record("allocate\t%llu\t%d\t%lld\t%lld", inode(descriptor), mode, (long long)offset,
               (long long)length);
    unlock();
    return result;
}
EXPORT int fallocate64(int descriptor, int mode, off64_t offset, off64_t length) {
    return fallocate(descriptor, mode, offset, length);
}
EXPORT int posix_fallocate(int descriptor, off_t offset, off_t length) {
    return fallocate(descriptor, 0, offset, length) == 0 ? 0 : errno;
}
EXPORT int posix_fallocate64(int descriptor, off64_t offset, off64_t length) {
    return posix_fallocate(descriptor, offset, length);
}

EXPORT int ioctl(int descriptor, unsigned long request, ...) {
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    char path[TEXT];
    begin();
    if (request != FICLONE || !concerns(descriptor, path))
        return real_ioctl(descriptor, request, argument);
    COUNT("write", "ioctl", path, NULL);
    int result = real_ioctl(descriptor, request, argument);
    if (result == 0)
        record("clone\t%llu\t%llu", inode(descriptor), inode((int)(intptr_t)argument));
    unlock();
    return result;
}
EXPORT ssize_t copy_file_range(int source, off_t *from, int destination, off_t *to, size_t count,
                               unsigned flags) {
    char path[TEXT];
    if (!concerns(destination, path))
        return real_copy_file_range(source, from, destination, to, count, flags);
    // Written as bytes, so that the record has them; the caller falls back to doing that itself.
    errno = EOPNOTSUPP;
    return -1;
}

// MARK: - Waiting for the disk

#define SYNC(name)                                                                                 \
    EXPORT int name(int descriptor) {                                                              \
        char path[TEXT];                                                                           \
        if (!concerns(descriptor, path)) return real_##name(descriptor);                           \
        COUNT("sync", #name, path, NULL);                                                          \
        int result = never_syncs ? 0 : real_##name(descriptor);                                    \
        if (result == 0) record(#name "\t%llu\t%s", inode(descriptor), path);                                \
        unlock();                                                                                  \
        return result;                                                                             \
    }
SYNC(fsync)
SYNC(fdatasync)
SYNC(syncfs)

// MARK: - Names

static int renamed(int from, const char *name, int to, const char *new_name, unsigned flags,
                   const char *call) {
    char old_path[TEXT], new_path[TEXT];
    int counts = resolve(from, name, old_path);
    counts = resolve(to, new_name, new_path) || counts;
    if (!counts) return real_renameat2(from, name, to, new_name, flags);
    COUNT("name", call, new_path, NULL);
    int result = real_renameat2(from, name, to, new_name, flags);
    if (result == 0) record("rename\t%s\t%s\t%u", old_path, new_path, flags);
    unlock();
    return result;
}
EXPORT int rename(const char *name, const char *new_name) {
    return renamed(AT_FDCWD, name, AT_FDCWD, new_name, 0, "rename");
}
EXPORT int renameat(int from, const char *name, int to, const char *new_name) {
    return renamed(from, name, to, new_name, 0, "renameat");
}
EXPORT int renameat2(int from, const char *name, int to, const char *new_name, unsigned flags) {
    return renamed(from, name, to, new_name, flags, "renameat2");
}

EXPORT int unlinkat(int directory, const char *name, int flags) {
    char path[TEXT];
    if (!resolve(directory, name, path)) return real_unlinkat(directory, name, flags);
    struct stat status;
    // What is not there is not removed.
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return -1;
    COUNT("remove", flags & AT_REMOVEDIR ? "rmdir" : "unlinkat", path, NULL);
    int result = real_unlinkat(directory, name, flags);
    if (result == 0) record("%s\t%s", flags & AT_REMOVEDIR ? "rmdir" : "unlink", path);
    unlock();
    return result;
}
EXPORT int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
EXPORT int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

EXPORT int mkdirat(int directory, const char *name, mode_t mode) {
    char path[TEXT];
    if (!resolve(directory, name, path)) return real_mkdirat(directory, name, mode);
    struct stat status;
    if (fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0) {
        errno = EEXIST;
        return -1;
    }
    COUNT("open", "mkdirat", path, NULL);
    int result = real_mkdirat(directory, name, mode);
    if (result == 0) record("mkdir\t%s\t%o", path, permissions(path));
    unlock();
    return result;
}
EXPORT int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

EXPORT int linkat(int from, const char *name, int to, const char *new_name, int flags) {
    char old_path[TEXT], new_path[TEXT];
    resolve(from, name, old_path);
    if (!resolve(to, new_name, new_path)) return real_linkat(from, name, to, new_name, flags);
    COUNT("open", "linkat", new_path, NULL);
    int result = real_linkat(from, name, to, new_name, flags);
    if (result == 0) record("link\t%s\t%s", old_path, new_path);
    unlock();
    return result;
}
EXPORT int link(const char *name, const char *new_name) {
    return linkat(AT_FDCWD, name, AT_FDCWD, new_name, 0);
}
EXPORT int symlinkat(const char *target, int directory, const char *name) {
    char path[TEXT];
    if (!resolve(directory, name, path)) return real_symlinkat(target, directory, name);
    COUNT("open", "symlinkat", path, NULL);
    int result = real_symlinkat(target, directory, name);
    if (result == 0) record("symlink\t%s\t%s", target, path);
    unlock();
    return result;
}
EXPORT int symlink(const char *target, const char *name) {
    return symlinkat(target, AT_FDCWD, name);
}

// MARK: - What is said of a file

static void record_status(int descriptor) {
    struct stat status;
    if (record_file >= 0 && fstat(descriptor, &status) == 0)
        record("times\t%llu\t%lld\t%ld", (unsigned long long)status.st_ino,
               (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}
EXPORT int futimens(int descriptor, const struct timespec times[2]) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_futimens(descriptor, times);
    COUNT("status", "futimens", path, NULL);
    int result = real_futimens(descriptor, times);
    if (result == 0) record_status(descriptor);
    unlock();
    return result;
}
EXPORT int utimensat(int directory, const char *name, const struct timespec times[2], int flags) {
    char path[TEXT];
    if (!resolve(directory, name, path)) return real_utimensat(directory, name, times, flags);
    COUNT("status", "utimensat", path, NULL);
    int result = real_utimensat(directory, name, times, flags);
    if (result == 0) record("unknown\tutimensat\t%s", path);
    unlock();
    return result;
}
EXPORT int fchmod(int descriptor, mode_t mode) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_fchmod(descriptor, mode);
    COUNT("status", "fchmod", path, NULL);
    int result = real_fchmod(descriptor, mode);
    if (result == 0) record("mode\t%llu\t%o", inode(descriptor), mode);
    unlock();
    return result;
}
EXPORT int fchmodat(int directory, const char *name, mode_t mode, int flags) {
    char path[TEXT];
    if (!resolve(directory, name, path)) return real_fchmodat(directory, name, mode, flags);
    COUNT("status", "fchmodat", path, NULL);
    int result = real_fchmodat(directory, name, mode, flags);
    if (result == 0) record("unknown\tfchmodat\t%s", path);
    unlock();
    return result;
}
EXPORT int chmod(const char *name, mode_t mode) { return fchmodat(AT_FDCWD, name, mode, 0); }
EXPORT int fchown(int descriptor, uid_t user, gid_t group) {
    char path[TEXT];
    if (!concerns(descriptor, path)) return real_fchown(descriptor, user, group);
    COUNT("owner", "fchown", path, NULL);
    int result = real_fchown(descriptor, user, group);
    unlock();
    return result;
}

// MARK: - Calls by number

EXPORT long syscall(long call, ...) {
    va_list arguments;
    va_start(arguments, call);
    long a = va_arg(arguments, long), b = va_arg(arguments, long), c = va_arg(arguments, long),
         d = va_arg(arguments, long), e = va_arg(arguments, long), f = va_arg(arguments, long);
    va_end(arguments);
    begin();
    switch (call) {
    case SYS_openat: return openat((int)a, (const char *)b, (int)c, (mode_t)d);
    case SYS_openat2: {
        const struct open_how *how = (const struct open_how *)c;
        if (how && (how->flags & (O_CREAT | O_TRUNC))) {
            // No caller makes a file so; one that did would have to be written down.
            errno = ENOSYS;
            return -1;
        }
        break;
    }
    case SYS_renameat2:
        return renamed((int)a, (const char *)b, (int)c, (const char *)d, (unsigned)e, "renameat2");
    case SYS_syncfs: return syncfs((int)a);
    case SYS_copy_file_range:
        return copy_file_range((int)a, (off_t *)b, (int)c, (off_t *)d, (size_t)e, (unsigned)f);
    case SYS_fallocate: return fallocate((int)a, (int)b, (off_t)c, (off_t)d);
    default: break;
    }
    return real_syscall(call, a, b, c, d, e, f);
}
