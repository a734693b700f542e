// The C library's functions on descriptors, but reading and writing.
#if defined(__linux__)
#include "calls.h"

#include <linux/fs.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

int close(int descriptor) {
    if (!is_virtual(descriptor)) return REAL("close", int (*)(int))(descriptor);
    bool goes_on = call_begin("close", descriptor, NULL, NULL, false, 0, NULL);
    int code = goes_on ? 0 : errno;
    if (!goes_on) lock_world();
    // As on Linux, the number is free whatever the answer is.
    int own = descriptor_close(descriptor);
    return call_end(code != 0 ? code : own);
}

// MARK: - Making durable

static int synchronize(const char *call, int descriptor, uint64_t *count, bool data_only) {
    if (!call_begin(call, descriptor, NULL, NULL, true, 0, NULL)) return -1;
    struct description *description;
    int code;
    struct inode *inode = file_of(descriptor, &description, &code);
    if (code == 0 && (description->flags & O_PATH)) code = EBADF;
    if (code == 0 && (inode == NULL || S_ISFIFO(inode->now.mode))) code = EINVAL;
    if (code == 0) {
        inode_sync(inode, data_only);
        ++*count;
    }
    return call_end(code);
}

int fsync(int descriptor) {
    if (!is_virtual(descriptor)) return REAL("fsync", int (*)(int))(descriptor);
    return synchronize("fsync", descriptor, &world.counts.fsyncs, false);
}

int fdatasync(int descriptor) {
    if (!is_virtual(descriptor)) return REAL("fdatasync", int (*)(int))(descriptor);
    return synchronize("fdatasync", descriptor, &world.counts.fdatasyncs, true);
}

int syncfs(int descriptor) {
    if (!is_virtual(descriptor)) return REAL("syncfs", int (*)(int))(descriptor);
    if (!call_begin("syncfs", descriptor, NULL, NULL, true, 0, NULL)) return -1;
    struct description *description = description_of(descriptor);
    int code = description == NULL || (description->flags & O_PATH) ? EBADF : 0;
    if (code == 0) {
        disk_sync();
        world.counts.syncfs++;
    }
    return call_end(code);
}

/// Makes nothing durable that a power cut respects.
int sync_file_range(int descriptor, off64_t offset, off64_t size, unsigned int flags) {
    if (is_virtual(descriptor)) return 0;
    return REAL("sync_file_range", int (*)(int, off64_t, off64_t, unsigned int))(
        descriptor, offset, size, flags);
}

int posix_fadvise(int descriptor, off_t offset, off_t size, int advice) {
    if (is_virtual(descriptor)) return 0;
    return REAL("posix_fadvise64", int (*)(int, off_t, off_t, int))(
        descriptor, offset, size, advice);
}

int posix_fadvise64(int descriptor, off64_t offset, off64_t size, int advice) {
    return posix_fadvise(descriptor, offset, size, advice);
}

// MARK: - Duplicates and locks

static int duplicate(int descriptor) {
    if (!call_begin("dup", descriptor, NULL, NULL, false, 0, NULL)) return -1;
    struct description *description = description_of(descriptor);
    int made = -1;
    int code = description == NULL ? EBADF : 0;
    if (code == 0) {
        made = descriptor_make(description);
        if (made < 0) code = errno;
    }
    return call_end(code) == 0 ? made : -1;
}

int dup(int descriptor) {
    if (!is_virtual(descriptor)) return REAL("dup", int (*)(int))(descriptor);
    return duplicate(descriptor);
}

/// The numbers are ours to choose, so that nobody can ask for one.
int dup3(int descriptor, int wanted, int flags) {
    if (!is_virtual(descriptor) && !is_virtual(wanted)) {
        return REAL("dup3", int (*)(int, int, int))(descriptor, wanted, flags);
    }
    errno = EINVAL;
    return -1;
}

int dup2(int descriptor, int wanted) {
    if (!is_virtual(descriptor) && !is_virtual(wanted)) {
        return REAL("dup2", int (*)(int, int))(descriptor, wanted);
    }
    if (descriptor == wanted && description_of(descriptor) != NULL) return descriptor;
    errno = EINVAL;
    return -1;
}

static int control(int descriptor, int command, void *argument) {
    if (command == F_DUPFD || command == F_DUPFD_CLOEXEC) return duplicate(descriptor);
    bool locks = command == F_SETLK || command == F_SETLKW;
    const char *call = locks ? "fcntl(F_SETLK)" : "fcntl";
    if (!call_begin(call, descriptor, NULL, NULL, false, 0, NULL)) return -1;
    struct description *description = description_of(descriptor);
    int code = description == NULL ? EBADF : 0;
    int answer = 0;
    if (code == 0) {
        const int changeable = O_APPEND | O_NONBLOCK;
        switch (command) {
        case F_GETFD: answer = FD_CLOEXEC; break;
        case F_GETFL:
            answer = description->flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
            break;
        case F_SETFL:
            description->flags = (description->flags & ~changeable)
                | ((int)(intptr_t)argument & changeable);
            break;
        // A process never disturbs its own locks of this kind, and there is no other.
        case F_GETLK: ((struct flock *)argument)->l_type = F_UNLCK; break;
        case F_SETFD:
        case F_SETLK:
        case F_SETLKW: break;
        default: code = EINVAL;
        }
    }
    return call_end(code) == 0 ? answer : -1;
}

#define LAST_ARGUMENT(previous) \
    va_list arguments; \
    va_start(arguments, previous); \
    void *argument = va_arg(arguments, void *); \
    va_end(arguments);

int fcntl(int descriptor, int command, ...) {
    LAST_ARGUMENT(command)
    if (is_virtual(descriptor)) return control(descriptor, command, argument);
    return REAL("fcntl", int (*)(int, int, ...))(descriptor, command, argument);
}

int fcntl64(int descriptor, int command, ...) {
    LAST_ARGUMENT(command)
    if (is_virtual(descriptor)) return control(descriptor, command, argument);
    return REAL("fcntl64", int (*)(int, int, ...))(descriptor, command, argument);
}

int flock(int descriptor, int operation) {
    if (!is_virtual(descriptor)) return REAL("flock", int (*)(int, int))(descriptor, operation);
    if (!call_begin("flock", descriptor, NULL, NULL, false, 0, NULL)) return -1;
    struct description *description = description_of(descriptor);
    int code = description == NULL || (description->flags & O_PATH) ? EBADF : 0;
    if (code == 0) code = descriptor_lock(description, operation);
    return call_end(code);
}

// MARK: - Clones and mappings

static int clone_file(int target, int source) {
    if (!call_begin("ioctl", target, NULL, NULL, true, 0, NULL)) return -1;
    struct description *writer = description_of(target);
    struct description *reader = description_of(source);
    int code = 0;
    if (writer == NULL || (is_virtual(source) && reader == NULL)) code = EBADF;
    else if (reader == NULL) code = EXDEV;
    else if ((writer->flags & O_ACCMODE) == O_RDONLY) code = EBADF;
    else if ((reader->flags & O_ACCMODE) == O_WRONLY) code = EBADF;
    else if (!is_file(inode_of(writer->inode)) || !is_file(inode_of(reader->inode))) code = EINVAL;
    if (code == 0) {
        struct inode *inode = inode_of(writer->inode);
        code = content_clone(&inode->content, &inode_of(reader->inode)->content);
        if (code == 0) inode->now.modified = inode->changed = world.now;
    }
    return call_end(code);
}

int ioctl(int descriptor, unsigned long request, ...) {
    LAST_ARGUMENT(request)
    if (!is_virtual(descriptor)) {
        return REAL("ioctl", int (*)(int, unsigned long, ...))(descriptor, request, argument);
    }
    if (request == FICLONE) return clone_file(descriptor, (int)(intptr_t)argument);
    errno = ENOTTY;
    return -1;
}

/// A shared mapping is memory of its own, filled from the file and never written back.
///
/// SQLite's index of its log lives in one: it is of no worth after a crash, and within a process
/// each part of it is mapped once.
static void *map(size_t size, int protection, int flags, int descriptor, off_t offset) {
    if (!call_begin("mmap", descriptor, NULL, NULL, false, (int64_t)size, NULL)) return MAP_FAILED;
    struct description *description;
    int code;
    struct inode *inode = file_of(descriptor, &description, &code);
    void *memory = MAP_FAILED;
    if (code == 0 && (inode == NULL || !is_file(inode) || (flags & MAP_FIXED))) code = ENODEV;
    if (code == 0) {
        memory = REAL("mmap64", void *(*)(void *, size_t, int, int, int, off_t))(
            NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) code = errno;
    }
    if (code == 0) {
        content_read(&inode->content, memory, size, offset);
        if (!(protection & PROT_WRITE)) mprotect(memory, size, protection);
    }
    call_end(code);
    return memory;
}

void *mmap(void *address, size_t size, int protection, int flags, int descriptor, off_t offset) {
    if (descriptor >= 0 && !(flags & MAP_ANONYMOUS) && is_virtual(descriptor)) {
        return map(size, protection, flags, descriptor, offset);
    }
    return REAL("mmap64", void *(*)(void *, size_t, int, int, int, off_t))(
        address, size, protection, flags, descriptor, offset);
}

void *mmap64(
    void *address, size_t size, int protection, int flags, int descriptor, off64_t offset
) {
    return mmap(address, size, protection, flags, descriptor, offset);
}
#endif
