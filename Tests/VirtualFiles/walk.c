#if defined(__linux__)
#include "internal.h"

#include <limits.h>

bool is_beneath_root(const char *path) {
    const size_t length = sizeof VIRTUAL_FILES_ROOT - 1;
    return path != NULL && path[0] == '/' && strncmp(path, VIRTUAL_FILES_ROOT, length) == 0
        && (path[length] == 0 || path[length] == '/');
}

bool is_virtual_path(int directory, const char *path) {
    if (path == NULL) return is_virtual(directory);
    return path[0] == '/' ? is_beneath_root(path) : is_virtual(directory);
}

/// Puts the target of a link before the rest of a path, which may be in the same buffer.
static int follow(const struct name *target, const char *rest, char buffer[4096]) {
    size_t length = strlen(rest);
    if (target->length + length >= PATH_MAX) return ENAMETOOLONG;
    memmove(buffer + target->length, rest, length + 1);
    memcpy(buffer, target->text, target->length);
    return 0;
}

static int finish_special(struct place *place, inode_id current) {
    place->directory = inode_of(current)->parent;
    place->inode = current;
    place->is_special = true;
    place->name = "";
    place->length = 0;
    return 0;
}

int walk(inode_id start, const char *path, int flags, struct place *place) {
    inode_id current = start;
    int links = 0;
    place->inode = 0;
    place->is_special = place->has_trailing_slash = place->is_long = false;
    if (*path == 0) return ENOENT;
    if (strnlen(path, PATH_MAX) == PATH_MAX) return ENAMETOOLONG;
    if (*path == '/') {
        if (flags & WALK_BENEATH) return EXDEV;
        path += sizeof VIRTUAL_FILES_ROOT - 1;
        current = ROOT;
    }
    while (true) {
        while (*path == '/') path++;
        if (*path == 0) return finish_special(place, current);
        size_t length = 0;
        while (path[length] != 0 && path[length] != '/') length++;
        const char *rest = path + length;
        while (*rest == '/') rest++;
        bool is_last = *rest == 0;
        bool has_slash = path[length] == '/';
        if (!is_directory(inode_of(current))) return ENOTDIR;
        if (path[0] == '.' && (length == 1 || (length == 2 && path[1] == '.'))) {
            if (length == 2) {
                if ((flags & WALK_BENEATH) && current == start) return EXDEV;
                const struct mount *mount = mount_at(current);
                if (mount != NULL) current = mount->covered;
                if (inode_of(current)->parent == 0) return ENOENT;
                current = inode_of(current)->parent;
            }
            if (is_last) return finish_special(place, current);
            path = rest;
            continue;
        }
        if (is_last && has_slash && (flags & WALK_CREATE)) return EISDIR;
        // In a directory that was removed nothing is looked for at all.
        bool is_long = length > NAME_MAX && inode_of(current)->links > 0;
        if (is_long && !(is_last && (flags & WALK_PARENT))) return ENAMETOOLONG;
        int refusal = refuse_access(inode_of(current), 1);
        if (refusal != 0) return refusal;
        uint32_t hash = name_hash(path, length);
        struct entry *entry = table_find(&inode_of(current)->present, path, length, hash);
        struct inode *inode = entry == NULL ? NULL : inode_of(mount_over(entry->inode));
        if (inode == NULL && !is_last) return ENOENT;
        bool leads_on = !is_last
            || (!(flags & WALK_PARENT) && (has_slash || (flags & WALK_FOLLOW)));
        if (inode != NULL && S_ISLNK(inode->now.mode) && leads_on) {
            if ((flags & WALK_NO_LINKS) || ++links > 40) return ELOOP;
            // The slashes after the name stay, and ask for a directory.
            int code = follow(inode->target, path + length, place->buffer);
            if (code != 0) return code;
            path = place->buffer;
            if (*path == '/') {
                if (flags & WALK_BENEATH) return EXDEV;
                if (!is_beneath_root(path)) return ENOENT;
                path += sizeof VIRTUAL_FILES_ROOT - 1;
                current = ROOT;
            }
            continue;
        }
        if (is_last) {
            place->directory = current;
            place->name = path;
            place->length = length;
            place->hash = hash;
            place->inode = inode == NULL ? 0 : inode->id;
            place->has_trailing_slash = has_slash;
            place->is_long = is_long;
            bool needs_directory = has_slash && !(flags & WALK_PARENT);
            return needs_directory && inode != NULL && !is_directory(inode) ? ENOTDIR : 0;
        }
        current = inode->id;
        path = rest;
    }
}
#endif
