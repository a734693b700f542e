// The C library's functions on extended attributes, of which there are the access control lists.
#if defined(__linux__)
#include "calls.h"

#include <sys/xattr.h>

static const char access_name[] = "system.posix_acl_access";
static const char default_name[] = "system.posix_acl_default";

/// As the kernel takes and gives them.
struct wire_entry {
    uint16_t tag, bits;
    uint32_t id;
};
struct wire {
    uint32_t version;
    struct wire_entry entries[ACL_LIMIT];
};
enum { ACL_VERSION = 2 };

/// The list that a name means; NULL for a name of something else.
static struct acl *acl_named(struct inode *inode, const char *name) {
    if (strcmp(name, access_name) == 0) return &inode->access;
    return strcmp(name, default_name) == 0 ? &inode->inherited : NULL;
}

static ssize_t get(
    int directory, const char *path, int flags, const char *name, void *value, size_t size
) {
    struct inode *inode;
    const char *call = path == NULL ? "fgetxattr" : "getxattr";
    if (begin_either(call, directory, path, flags, false, &inode) != 0) return -1;
    const struct acl *acl = acl_named(inode, name);
    if (acl == NULL || acl->count == 0) return call_end(ENODATA);
    struct wire wire = {.version = ACL_VERSION};
    for (uint32_t i = 0; i < acl->count; i++) {
        const struct acl_entry *entry = &acl->entries[i];
        wire.entries[i] = (struct wire_entry){entry->tag, entry->bits, entry->id};
    }
    size_t length = sizeof wire.version + acl->count * sizeof(struct wire_entry);
    if (size > 0 && size < length) return call_end(ERANGE);
    if (size > 0) memcpy(value, &wire, length);
    call_end(0);
    return (ssize_t)length;
}

static int set_value(struct inode *inode, const char *name, const void *value, size_t size) {
    struct acl *acl = acl_named(inode, name);
    if (acl == NULL || S_ISLNK(inode->now.mode)) return EOPNOTSUPP;
    int code = refuse_owner(inode);
    if (code != 0) return code;
    bool is_default = acl == &inode->inherited;
    if (is_default && !is_directory(inode)) return EACCES;
    struct wire wire;
    struct acl made = {0};
    if (size < sizeof wire.version || size > sizeof wire) return EINVAL;
    memcpy(&wire, value, size);
    size_t rest = size - sizeof wire.version;
    if (wire.version != ACL_VERSION || rest % sizeof(struct wire_entry) != 0) return EINVAL;
    made.count = (uint32_t)(rest / sizeof(struct wire_entry));
    for (uint32_t i = 0; i < made.count; i++) {
        const struct wire_entry *entry = &wire.entries[i];
        made.entries[i] = (struct acl_entry){entry->tag, entry->bits & 7, entry->id};
    }
    if (made.count > 0 && !is_valid_acl(&made)) return EINVAL;
    if (is_default || made.count == 0) *acl = made;
    else set_acl(inode, &made);
    inode_touch(inode);
    return 0;
}

static int set(
    int directory, const char *path, int flags, const char *name, const void *value, size_t size
) {
    struct inode *inode;
    const char *call = path == NULL ? "fsetxattr" : "setxattr";
    if (begin_either(call, directory, path, flags, true, &inode) != 0) return -1;
    return call_end(set_value(inode, name, value, size));
}

static int take_away(int directory, const char *path, int flags, const char *name) {
    struct inode *inode;
    const char *call = path == NULL ? "fremovexattr" : "removexattr";
    if (begin_either(call, directory, path, flags, true, &inode) != 0) return -1;
    struct acl *acl = acl_named(inode, name);
    if (acl == NULL) return call_end(ENODATA);
    int code = refuse_owner(inode);
    // What the mask allowed to the group stays in the mode.
    if (code == 0) acl->count = 0;
    if (code == 0) inode_touch(inode);
    return call_end(code);
}

static ssize_t list(int directory, const char *path, int flags, char *names, size_t size) {
    struct inode *inode;
    const char *call = path == NULL ? "flistxattr" : "listxattr";
    if (begin_either(call, directory, path, flags, false, &inode) != 0) return -1;
    char found[sizeof access_name + sizeof default_name];
    size_t length = 0;
    if (inode->access.count > 0) {
        memcpy(found, access_name, sizeof access_name);
        length = sizeof access_name;
    }
    if (inode->inherited.count > 0) {
        memcpy(found + length, default_name, sizeof default_name);
        length += sizeof default_name;
    }
    if (size > 0 && size < length) return call_end(ERANGE);
    if (size > 0) memcpy(names, found, length);
    call_end(0);
    return (ssize_t)length;
}

bool virtual_files_set_list(
    const char *path, bool is_inherited, const uint8_t *list, size_t size
) {
    return setxattr(path, is_inherited ? default_name : access_name, list, size, 0) == 0;
}

bool virtual_files_has_list(const char *path) {
    return getxattr(path, access_name, NULL, 0) > 0;
}

// MARK: - By descriptor

ssize_t fgetxattr(int descriptor, const char *name, void *value, size_t size) {
    if (is_virtual(descriptor)) return get(descriptor, NULL, 0, name, value, size);
    return REAL("fgetxattr", ssize_t (*)(int, const char *, void *, size_t))(
        descriptor, name, value, size);
}

int fsetxattr(int descriptor, const char *name, const void *value, size_t size, int flags) {
    if (is_virtual(descriptor)) return set(descriptor, NULL, 0, name, value, size);
    return REAL("fsetxattr", int (*)(int, const char *, const void *, size_t, int))(
        descriptor, name, value, size, flags);
}

int fremovexattr(int descriptor, const char *name) {
    if (is_virtual(descriptor)) return take_away(descriptor, NULL, 0, name);
    return REAL("fremovexattr", int (*)(int, const char *))(descriptor, name);
}

ssize_t flistxattr(int descriptor, char *names, size_t size) {
    if (is_virtual(descriptor)) return list(descriptor, NULL, 0, names, size);
    return REAL("flistxattr", ssize_t (*)(int, char *, size_t))(descriptor, names, size);
}

// MARK: - By path

ssize_t getxattr(const char *path, const char *name, void *value, size_t size) {
    if (is_beneath_root(path)) return get(AT_FDCWD, path, 0, name, value, size);
    return REAL("getxattr", ssize_t (*)(const char *, const char *, void *, size_t))(
        path, name, value, size);
}

ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size) {
    if (is_beneath_root(path)) {
        return get(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, name, value, size);
    }
    return REAL("lgetxattr", ssize_t (*)(const char *, const char *, void *, size_t))(
        path, name, value, size);
}

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags) {
    if (is_beneath_root(path)) return set(AT_FDCWD, path, 0, name, value, size);
    return REAL("setxattr", int (*)(const char *, const char *, const void *, size_t, int))(
        path, name, value, size, flags);
}

int removexattr(const char *path, const char *name) {
    if (is_beneath_root(path)) return take_away(AT_FDCWD, path, 0, name);
    return REAL("removexattr", int (*)(const char *, const char *))(path, name);
}

ssize_t listxattr(const char *path, char *names, size_t size) {
    if (is_beneath_root(path)) return list(AT_FDCWD, path, 0, names, size);
    return REAL("listxattr", ssize_t (*)(const char *, char *, size_t))(path, names, size);
}

ssize_t llistxattr(const char *path, char *names, size_t size) {
    if (is_beneath_root(path)) return list(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, names, size);
    return REAL("llistxattr", ssize_t (*)(const char *, char *, size_t))(path, names, size);
}
#endif
