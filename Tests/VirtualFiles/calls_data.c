// The C library's functions that read and write.
#if defined(__linux__)
#include "calls.h"

#include <sys/uio.h>

struct inode *file_of(int descriptor, struct description **description, int *code) {
    *description = description_of(descriptor);
    *code = *description == NULL ? EBADF : 0;
    return *description == NULL || (*description)->inode == 0
        ? NULL : inode_of((*description)->inode);
}

static bool can_read(const struct description *description) {
    return (description->flags & O_ACCMODE) != O_WRONLY && !(description->flags & O_PATH);
}

static bool can_write(const struct description *description) {
    return (description->flags & O_ACCMODE) != O_RDONLY && !(description->flags & O_PATH);
}

enum { AT_POSITION = -1 };

static int read_at(
    struct description *description, void *buffer, int64_t size, int64_t offset, int64_t *moved
) {
    if (!can_read(description)) return EBADF;
    if (description->is_random) {
        entropy_fill(buffer, (size_t)size);
        *moved = size;
        return 0;
    }
    struct inode *inode = inode_of(description->inode);
    if (is_directory(inode)) return EISDIR;
    if (S_ISFIFO(inode->now.mode)) return 0;
    bool moves = offset == AT_POSITION;
    if (moves) offset = description->offset;
    *moved = (int64_t)content_read(&inode->content, buffer, (size_t)size, offset);
    if (moves) description->offset += *moved;
    inode->now.accessed = world.now;
    world.counts.bytes_read += (uint64_t)*moved;
    return 0;
}

static int write_at(
    struct description *description, const void *buffer, int64_t size, int64_t offset,
    int64_t *moved
) {
    if (!can_write(description)) return EBADF;
    struct inode *inode = inode_of(description->inode);
    if (!is_file(inode)) return EPIPE;
    bool moves = offset == AT_POSITION;
    if (description->flags & O_APPEND) offset = inode->content.size;
    else if (moves) offset = description->offset;
    if (size == 0) return 0;
    if (offset > INT64_MAX / 2 - size) return EFBIG;
    *moved = (int64_t)content_write(&inode->content, buffer, (size_t)size, offset);
    if (*moved == 0) return ENOSPC;
    if (moves) description->offset = offset + *moved;
    inode->now.modified = inode->changed = world.now;
    if (description->flags & O_DSYNC) inode_sync(inode, (description->flags & O_SYNC) != O_SYNC);
    world.counts.bytes_written += (uint64_t)*moved;
    return 0;
}

static ssize_t virtual_read(
    const char *call, int descriptor, void *buffer, size_t size, int64_t offset
) {
    int64_t limit = (int64_t)size;
    if (!call_begin(call, descriptor, NULL, NULL, false, (int64_t)size, &limit)) return -1;
    struct description *description = description_of(descriptor);
    int64_t moved = 0;
    int code = description == NULL ? EBADF : read_at(description, buffer, limit, offset, &moved);
    return call_end(code) == 0 ? moved : -1;
}

static ssize_t virtual_write(
    const char *call, int descriptor, const void *buffer, size_t size, int64_t offset
) {
    int64_t limit = (int64_t)size;
    if (!call_begin(call, descriptor, NULL, NULL, true, (int64_t)size, &limit)) return -1;
    struct description *description = description_of(descriptor);
    int64_t moved = 0;
    int code = description == NULL ? EBADF : write_at(description, buffer, limit, offset, &moved);
    return call_end(code) == 0 ? moved : -1;
}

ssize_t read(int descriptor, void *buffer, size_t size) {
    if (!is_virtual(descriptor)) {
        return REAL("read", ssize_t (*)(int, void *, size_t))(descriptor, buffer, size);
    }
    return virtual_read("read", descriptor, buffer, size, AT_POSITION);
}

ssize_t __read_chk(int descriptor, void *buffer, size_t size, size_t space) {
    (void)space;
    return read(descriptor, buffer, size);
}

ssize_t write(int descriptor, const void *buffer, size_t size) {
    if (!is_virtual(descriptor)) {
        return REAL("write", ssize_t (*)(int, const void *, size_t))(descriptor, buffer, size);
    }
    return virtual_write("write", descriptor, buffer, size, AT_POSITION);
}

static int invalid(void) {
    errno = EINVAL;
    return -1;
}

ssize_t pread(int descriptor, void *buffer, size_t size, off_t offset) {
    if (!is_virtual(descriptor)) {
        return REAL("pread64", ssize_t (*)(int, void *, size_t, off_t))(
            descriptor, buffer, size, offset);
    }
    return offset < 0 ? invalid() : virtual_read("pread", descriptor, buffer, size, offset);
}

ssize_t pread64(int descriptor, void *buffer, size_t size, off64_t offset) {
    return pread(descriptor, buffer, size, offset);
}

ssize_t __pread_chk(int descriptor, void *buffer, size_t size, off_t offset, size_t space) {
    (void)space;
    return pread(descriptor, buffer, size, offset);
}

ssize_t __pread64_chk(int descriptor, void *buffer, size_t size, off_t offset, size_t space) {
    (void)space;
    return pread(descriptor, buffer, size, offset);
}

ssize_t pwrite(int descriptor, const void *buffer, size_t size, off_t offset) {
    if (!is_virtual(descriptor)) {
        return REAL("pwrite64", ssize_t (*)(int, const void *, size_t, off_t))(
            descriptor, buffer, size, offset);
    }
    return offset < 0 ? invalid() : virtual_write("pwrite", descriptor, buffer, size, offset);
}

ssize_t pwrite64(int descriptor, const void *buffer, size_t size, off64_t offset) {
    return pwrite(descriptor, buffer, size, offset);
}

// MARK: - Several buffers

/// Each buffer in its turn until one is not filled; one call for the hook.
static ssize_t move_vectors(
    const char *call, int descriptor, const struct iovec *vectors, int count, int64_t offset,
    bool writes
) {
    int64_t total = 0;
    for (int i = 0; i < count; i++) total += (int64_t)vectors[i].iov_len;
    int64_t limit = total;
    if (!call_begin(call, descriptor, NULL, NULL, writes, total, &limit)) return -1;
    struct description *description = description_of(descriptor);
    int code = description == NULL ? EBADF : 0;
    int64_t done = 0;
    for (int i = 0; i < count && code == 0 && done < limit; i++) {
        int64_t size = (int64_t)vectors[i].iov_len;
        if (size > limit - done) size = limit - done;
        int64_t at = offset == AT_POSITION ? AT_POSITION : offset + done;
        int64_t moved = 0;
        code = writes
            ? write_at(description, vectors[i].iov_base, size, at, &moved)
            : read_at(description, vectors[i].iov_base, size, at, &moved);
        done += moved;
        if (moved < size) break;
    }
    if (done > 0) code = 0;
    return call_end(code) == 0 ? done : -1;
}

ssize_t readv(int descriptor, const struct iovec *vectors, int count) {
    if (!is_virtual(descriptor)) {
        return REAL("readv", ssize_t (*)(int, const struct iovec *, int))(
            descriptor, vectors, count);
    }
    return move_vectors("read", descriptor, vectors, count, AT_POSITION, false);
}

ssize_t writev(int descriptor, const struct iovec *vectors, int count) {
    if (!is_virtual(descriptor)) {
        return REAL("writev", ssize_t (*)(int, const struct iovec *, int))(
            descriptor, vectors, count);
    }
    return move_vectors("write", descriptor, vectors, count, AT_POSITION, true);
}

ssize_t preadv(int descriptor, const struct iovec *vectors, int count, off_t offset) {
    if (!is_virtual(descriptor)) {
        return REAL("preadv64", ssize_t (*)(int, const struct iovec *, int, off_t))(
            descriptor, vectors, count, offset);
    }
    if (offset < 0) return invalid();
    return move_vectors("pread", descriptor, vectors, count, offset, false);
}

ssize_t preadv64(int descriptor, const struct iovec *vectors, int count, off64_t offset) {
    return preadv(descriptor, vectors, count, offset);
}

ssize_t pwritev(int descriptor, const struct iovec *vectors, int count, off_t offset) {
    if (!is_virtual(descriptor)) {
        return REAL("pwritev64", ssize_t (*)(int, const struct iovec *, int, off_t))(
            descriptor, vectors, count, offset);
    }
    if (offset < 0) return invalid();
    return move_vectors("pwrite", descriptor, vectors, count, offset, true);
}

ssize_t pwritev64(int descriptor, const struct iovec *vectors, int count, off64_t offset) {
    return pwritev(descriptor, vectors, count, offset);
}

// MARK: - Positions and sizes

off_t lseek(int descriptor, off_t offset, int whence) {
    if (!is_virtual(descriptor)) {
        return REAL("lseek64", off_t (*)(int, off_t, int))(descriptor, offset, whence);
    }
    if (!call_begin("lseek", descriptor, NULL, NULL, false, 0, NULL)) return -1;
    struct description *description;
    int code;
    struct inode *inode = file_of(descriptor, &description, &code);
    if (code == 0 && inode == NULL) code = ESPIPE;
    int64_t position = 0;
    if (code == 0) {
        int64_t size = inode->content.size;
        switch (whence) {
        case SEEK_SET: position = offset; break;
        case SEEK_CUR: position = description->offset + offset; break;
        case SEEK_END: position = size + offset; break;
        case SEEK_DATA:
        case SEEK_HOLE:
            if (offset < 0 || offset >= size) code = ENXIO;
            else position = whence == SEEK_DATA ? offset : size;
            break;
        default: code = EINVAL;
        }
        if (code == 0 && position < 0) code = EINVAL;
        if (code == 0) description->offset = position;
    }
    return call_end(code) == 0 ? position : -1;
}

off64_t lseek64(int descriptor, off64_t offset, int whence) {
    return lseek(descriptor, offset, whence);
}

int ftruncate(int descriptor, off_t size) {
    if (!is_virtual(descriptor)) {
        return REAL("ftruncate64", int (*)(int, off_t))(descriptor, size);
    }
    if (!call_begin("ftruncate", descriptor, NULL, NULL, true, size, NULL)) return -1;
    struct description *description;
    int code;
    struct inode *inode = file_of(descriptor, &description, &code);
    if (code == 0 && (size < 0 || inode == NULL || !is_file(inode))) code = EINVAL;
    if (code == 0 && !can_write(description)) code = EINVAL;
    if (code == 0) {
        code = content_resize(&inode->content, size);
        inode->now.modified = inode->changed = world.now;
    }
    return call_end(code);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int truncate(const char *path, off_t size) {
    if (!is_beneath_root(path)) return REAL("truncate64", int (*)(const char *, off_t))(path, size);
    int descriptor = openat(AT_FDCWD, path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return -1;
    int result = ftruncate(descriptor, size);
    int code = errno;
    close(descriptor);
    errno = code;
    return result;
}

int truncate64(const char *path, off64_t size) { return truncate(path, size); }

static int virtual_fallocate(int descriptor, int mode, off_t offset, off_t size) {
    if (!call_begin("fallocate", descriptor, NULL, NULL, true, offset + size, NULL)) return errno;
    struct description *description;
    int code;
    struct inode *inode = file_of(descriptor, &description, &code);
    if (code == 0 && (offset < 0 || size <= 0)) code = EINVAL;
    if (code == 0 && (mode & ~FALLOC_FL_KEEP_SIZE) != 0) code = EOPNOTSUPP;
    if (code == 0 && !can_write(description)) code = EBADF;
    if (code == 0 && (inode == NULL || !is_file(inode))) code = ENODEV;
    if (code == 0) {
        bool keeps_size = (mode & FALLOC_FL_KEEP_SIZE) != 0;
        code = content_preallocate(&inode->content, offset, offset + size, keeps_size);
        if (code == 0) inode->now.modified = inode->changed = world.now;
    }
    unlock_world();
    return code;
}

int fallocate(int descriptor, int mode, off_t offset, off_t size) {
    if (!is_virtual(descriptor)) {
        return REAL("fallocate64", int (*)(int, int, off_t, off_t))(
            descriptor, mode, offset, size);
    }
    int code = virtual_fallocate(descriptor, mode, offset, size);
    if (code == 0) return 0;
    errno = code;
    return -1;
}

int fallocate64(int descriptor, int mode, off64_t offset, off64_t size) {
    return fallocate(descriptor, mode, offset, size);
}

int posix_fallocate(int descriptor, off_t offset, off_t size) {
    if (!is_virtual(descriptor)) {
        return REAL("posix_fallocate64", int (*)(int, off_t, off_t))(descriptor, offset, size);
    }
    int before = errno;
    int code = virtual_fallocate(descriptor, 0, offset, size);
    errno = before;
    return code;
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t size) {
    return posix_fallocate(descriptor, offset, size);
}

ssize_t copy_file_range(
    int source, off64_t *from, int target, off64_t *to, size_t size, unsigned int flags
) {
    if (!is_virtual(source) && !is_virtual(target)) {
        return REAL(
            "copy_file_range",
            ssize_t (*)(int, off64_t *, int, off64_t *, size_t, unsigned int))(
            source, from, target, to, size, flags);
    }
    if (!is_virtual(source) || !is_virtual(target)) {
        errno = EXDEV;
        return -1;
    }
    int64_t limit = (int64_t)size;
    if (!call_begin("copy_file_range", target, NULL, NULL, true, (int64_t)size, &limit)) return -1;
    struct description *reader = description_of(source);
    struct description *writer = description_of(target);
    int code = reader == NULL || writer == NULL || !can_read(reader) || !can_write(writer)
        ? EBADF : 0;
    if (code == 0 && reader->inode == writer->inode) code = EINVAL;
    int64_t done = 0;
    char buffer[16 * PAGE_SIZE];
    while (code == 0 && done < limit) {
        int64_t wanted = (int64_t)sizeof buffer;
        if (wanted > limit - done) wanted = limit - done;
        int64_t got = 0;
        int64_t put = 0;
        code = read_at(reader, buffer, wanted, from == NULL ? AT_POSITION : *from + done, &got);
        if (code != 0 || got == 0) break;
        code = write_at(writer, buffer, got, to == NULL ? AT_POSITION : *to + done, &put);
        done += put;
        if (put < got) break;
    }
    if (done > 0) code = 0;
    if (from != NULL) *from += done;
    if (to != NULL) *to += done;
    return call_end(code) == 0 ? done : -1;
}
#endif
