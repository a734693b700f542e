// The C library's functions on names.
#if defined(__linux__)
#include "calls.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

int start_of(int directory, const char *path, inode_id *start) {
    *start = ROOT;
    if (path[0] == '/') return 0;
    if (path[0] == 0) return ENOENT;
    struct description *description = description_of(directory);
    if (description == NULL) return EBADF;
    if (description->inode == 0 || !is_directory(inode_of(description->inode))) return ENOTDIR;
    *start = description->inode;
    return 0;
}

/// Where a path leads, seen from a directory.
static int find(int directory, const char *path, int flags, struct place *place) {
    inode_id start;
    int code = start_of(directory, path, &start);
    return code != 0 ? code : walk(start, path, flags, place);
}

static bool is_random_device(const char *path) {
    return path != NULL && path[0] == '/' && path[1] == 'd'
        && (strcmp(path, "/dev/urandom") == 0 || strcmp(path, "/dev/random") == 0);
}

static int open_random(int flags) {
    lock_world();
    struct description *description = description_make(0, flags);
    description->is_random = true;
    int descriptor = descriptor_make(description);
    unlock_world();
    return descriptor;
}

/// Opens what is at a place, or makes it.
static int open_place(struct place *place, int flags, mode_t mode, int *descriptor) {
    int access = flags & O_ACCMODE;
    bool creates = (flags & O_CREAT) != 0;
    if (place->inode == 0) {
        if (!creates) return ENOENT;
        struct inode *made;
        int code = tree_create(place, S_IFREG | (mode & 07777), NULL, &made);
        if (code != 0) return code;
        place->inode = made->id;
        flags &= ~O_TRUNC;
    } else {
        if (creates && (flags & O_EXCL)) return EEXIST;
        struct inode *inode = inode_of(place->inode);
        if (S_ISLNK(inode->now.mode) && !(flags & O_PATH)) {
            return flags & O_DIRECTORY ? ENOTDIR : ELOOP;
        }
        if ((flags & O_DIRECTORY) && !is_directory(inode)) return ENOTDIR;
        bool writes = access != O_RDONLY || creates || (flags & O_TRUNC);
        if (is_directory(inode) && !(flags & O_PATH) && writes) return EISDIR;
        if (S_ISFIFO(inode->now.mode) && !(flags & O_PATH)) {
            if (access == O_WRONLY && (flags & O_NONBLOCK)) return ENXIO;
            // Nobody is at the other end, and nobody comes.
            if (access != O_RDWR && !(flags & O_NONBLOCK)) return EDEADLK;
        }
        int wanted = (access != O_WRONLY ? 4 : 0) | (access != O_RDONLY || flags & O_TRUNC ? 2 : 0);
        int code = flags & O_PATH ? 0 : refuse_access(inode, wanted);
        if (code != 0) return code;
    }
    struct inode *inode = inode_of(place->inode);
    if ((flags & O_TRUNC) && is_file(inode) && !(flags & O_PATH)) {
        content_resize(&inode->content, 0);
        inode->now.modified = inode->changed = world.now;
    }
    *descriptor = descriptor_make(description_make(inode->id, flags));
    return *descriptor < 0 ? errno : 0;
}

int virtual_open(int directory, const char *path, int flags, mode_t mode, int walk_flags) {
    bool changes = (flags & (O_CREAT | O_TRUNC)) != 0;
    if (!call_begin("openat", directory, path, NULL, changes, 0, NULL)) return -1;
    bool follows = !(flags & O_NOFOLLOW) && (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
    struct place place;
    int descriptor = -1;
    int code = 0;
    if ((flags & O_TMPFILE) == O_TMPFILE) code = EOPNOTSUPP;
    else if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY)) code = EINVAL;
    if (follows) walk_flags |= WALK_FOLLOW;
    if (flags & O_CREAT) walk_flags |= WALK_CREATE;
    if (code == 0) code = find(directory, path, walk_flags, &place);
    if (code == 0) code = open_place(&place, flags, mode, &descriptor);
    return call_end(code) == 0 ? descriptor : -1;
}

#define OPEN_MODE(flags) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, mode_t); \
        va_end(arguments); \
    }

static int open_any(const char *real, const char *path, int flags, mode_t mode) {
    if (is_beneath_root(path)) return virtual_open(AT_FDCWD, path, flags, mode, 0);
    if (world.has_entropy && is_random_device(path)) return open_random(flags);
    static void *open_cache, *open64_cache;
    void **cache = real[4] == 0 ? &open_cache : &open64_cache;
    return ((int (*)(const char *, int, ...))real_function(cache, real))(path, flags, mode);
}

int open(const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_any("open", path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return open_any("open64", path, flags, mode);
}

int __open_2(const char *path, int flags) { return open_any("open", path, flags, 0); }
int __open64_2(const char *path, int flags) { return open_any("open64", path, flags, 0); }
int creat(const char *path, mode_t mode) {
    return open_any("open", path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}
int creat64(const char *path, mode_t mode) {
    return open_any("open64", path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

static int openat_any(int directory, const char *path, int flags, mode_t mode) {
    if (is_virtual_path(directory, path)) return virtual_open(directory, path, flags, mode, 0);
    if (world.has_entropy && is_random_device(path)) return open_random(flags);
    return REAL("openat64", int (*)(int, const char *, int, ...))(directory, path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return openat_any(directory, path, flags, mode);
}

int openat64(int directory, const char *path, int flags, ...) {
    OPEN_MODE(flags)
    return openat_any(directory, path, flags, mode);
}

int __openat_2(int directory, const char *path, int flags) {
    return openat_any(directory, path, flags, 0);
}
int __openat64_2(int directory, const char *path, int flags) {
    return openat_any(directory, path, flags, 0);
}

// MARK: - Making names

static int create(
    const char *call, int directory, const char *path, mode_t mode, const char *target
) {
    if (!call_begin(call, directory, path, target, true, 0, NULL)) return -1;
    struct place place;
    int code = find(directory, path, WALK_PARENT, &place);
    if (code == 0) code = tree_create(&place, mode, target, NULL);
    return call_end(code);
}

int mkdirat(int directory, const char *path, mode_t mode) {
    if (!is_virtual_path(directory, path)) {
        return REAL("mkdirat", int (*)(int, const char *, mode_t))(directory, path, mode);
    }
    return create("mkdirat", directory, path, S_IFDIR | (mode & 01777), NULL);
}

int mkdir(const char *path, mode_t mode) {
    if (!is_beneath_root(path)) return REAL("mkdir", int (*)(const char *, mode_t))(path, mode);
    return mkdirat(AT_FDCWD, path, mode);
}

int symlinkat(const char *target, int directory, const char *path) {
    if (!is_virtual_path(directory, path)) {
        return REAL("symlinkat", int (*)(const char *, int, const char *))(target, directory, path);
    }
    if (*target == 0) {
        errno = ENOENT;
        return -1;
    }
    return create("symlinkat", directory, path, S_IFLNK | 0777, target);
}

int symlink(const char *target, const char *path) {
    if (!is_beneath_root(path)) {
        return REAL("symlink", int (*)(const char *, const char *))(target, path);
    }
    return symlinkat(target, AT_FDCWD, path);
}

int mkfifoat(int directory, const char *path, mode_t mode) {
    if (!is_virtual_path(directory, path)) {
        return REAL("mkfifoat", int (*)(int, const char *, mode_t))(directory, path, mode);
    }
    return create("mkfifoat", directory, path, S_IFIFO | (mode & 07777), NULL);
}

int mkfifo(const char *path, mode_t mode) {
    if (!is_beneath_root(path)) return REAL("mkfifo", int (*)(const char *, mode_t))(path, mode);
    return mkfifoat(AT_FDCWD, path, mode);
}

int linkat(
    int old_directory, const char *old_path, int new_directory, const char *new_path, int flags
) {
    bool is_new_virtual = is_virtual_path(new_directory, new_path);
    if (is_virtual_path(old_directory, old_path) != is_new_virtual) {
        errno = EXDEV;
        return -1;
    }
    if (!is_new_virtual) {
        return REAL("linkat", int (*)(int, const char *, int, const char *, int))(
            old_directory, old_path, new_directory, new_path, flags);
    }
    if (!call_begin("linkat", old_directory, old_path, new_path, true, 0, NULL)) return -1;
    struct place from, to;
    int code = find(old_directory, old_path, flags & AT_SYMLINK_FOLLOW ? WALK_FOLLOW : 0, &from);
    if (code == 0 && from.inode == 0) code = ENOENT;
    if (code == 0) code = find(new_directory, new_path, WALK_PARENT, &to);
    if (code == 0 && mount_of(from.inode) != mount_of(to.directory)) code = EXDEV;
    if (code == 0) code = tree_link(inode_of(from.inode), &to);
    return call_end(code);
}

int link(const char *old_path, const char *new_path) {
    return linkat(AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
}

// MARK: - Taking and moving names

int unlinkat(int directory, const char *path, int flags) {
    if (!is_virtual_path(directory, path)) {
        return REAL("unlinkat", int (*)(int, const char *, int))(directory, path, flags);
    }
    const char *call = flags & AT_REMOVEDIR ? "rmdir" : "unlinkat";
    if (!call_begin(call, directory, path, NULL, true, 0, NULL)) return -1;
    struct place place;
    int code = find(directory, path, WALK_PARENT, &place);
    if (code == 0 && place.is_special && (flags & AT_REMOVEDIR) && place.inode != ROOT) {
        size_t length = strlen(path);
        while (length > 0 && path[length - 1] == '/') length--;
        bool is_parent = length >= 2 && path[length - 2] == '.';
        code = is_parent ? ENOTEMPTY : EINVAL;
    }
    if (code == 0) code = tree_unlink(&place, (flags & AT_REMOVEDIR) != 0);
    return call_end(code);
}

int unlink(const char *path) {
    if (!is_beneath_root(path)) return REAL("unlink", int (*)(const char *))(path);
    return unlinkat(AT_FDCWD, path, 0);
}

int rmdir(const char *path) {
    if (!is_beneath_root(path)) return REAL("rmdir", int (*)(const char *))(path);
    return unlinkat(AT_FDCWD, path, AT_REMOVEDIR);
}

int virtual_rename(
    const char *call, int old_directory, const char *old_path, int new_directory,
    const char *new_path, unsigned int flags
) {
    if (!call_begin(call, old_directory, old_path, new_path, true, 0, NULL)) return -1;
    struct place from, to;
    int code = find(old_directory, old_path, WALK_PARENT, &from);
    if (code == 0) code = find(new_directory, new_path, WALK_PARENT, &to);
    if (code == 0) {
        code = flags == RENAME_EXCHANGE ? tree_exchange(&from, &to)
            : tree_rename(&from, &to, flags == RENAME_NOREPLACE);
    }
    return call_end(code);
}

int renameat2(
    int old_directory, const char *old_path, int new_directory, const char *new_path,
    unsigned int flags
) {
    bool is_new_virtual = is_virtual_path(new_directory, new_path);
    if (is_virtual_path(old_directory, old_path) != is_new_virtual) {
        errno = EXDEV;
        return -1;
    }
    if (!is_new_virtual) {
        return REAL("renameat2", int (*)(int, const char *, int, const char *, unsigned int))(
            old_directory, old_path, new_directory, new_path, flags);
    }
    if (flags != 0 && flags != RENAME_NOREPLACE && flags != RENAME_EXCHANGE) {
        errno = EINVAL;
        return -1;
    }
    const char *call = flags == 0 ? "renameat" : "renameat2";
    return virtual_rename(call, old_directory, old_path, new_directory, new_path, flags);
}

int renameat(int old_directory, const char *old_path, int new_directory, const char *new_path) {
    return renameat2(old_directory, old_path, new_directory, new_path, 0);
}

int rename(const char *old_path, const char *new_path) {
    return renameat2(AT_FDCWD, old_path, AT_FDCWD, new_path, 0);
}

// MARK: - Looking at links

ssize_t readlinkat(int directory, const char *path, char *buffer, size_t size) {
    if (!is_virtual_path(directory, path)) {
        return REAL("readlinkat", ssize_t (*)(int, const char *, char *, size_t))(
            directory, path, buffer, size);
    }
    if (!call_begin("readlinkat", directory, path, NULL, false, 0, NULL)) return -1;
    struct place place;
    size_t length = 0;
    int code = find(directory, path, 0, &place);
    if (code == 0 && place.inode == 0) code = ENOENT;
    if (code == 0 && !S_ISLNK(inode_of(place.inode)->now.mode)) code = EINVAL;
    if (code == 0) {
        const struct name *target = inode_of(place.inode)->target;
        length = target->length < size ? target->length : size;
        memcpy(buffer, target->text, length);
    }
    return call_end(code) == 0 ? (ssize_t)length : -1;
}

ssize_t readlink(const char *path, char *buffer, size_t size) {
    if (!is_beneath_root(path)) {
        return REAL("readlink", ssize_t (*)(const char *, char *, size_t))(path, buffer, size);
    }
    return readlinkat(AT_FDCWD, path, buffer, size);
}

ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t space) {
    (void)space;
    return readlink(path, buffer, size);
}

ssize_t __readlinkat_chk(
    int directory, const char *path, char *buffer, size_t size, size_t space
) {
    (void)space;
    return readlinkat(directory, path, buffer, size);
}

mode_t umask(mode_t mask) {
    world.umask = mask & 0777;
    return REAL("umask", mode_t (*)(mode_t))(mask);
}
#endif
