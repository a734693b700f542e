// Names given, taken and moved.
#if defined(__linux__)
#include "internal.h"

static void stamp_directory(struct inode *directory) {
    directory->now.modified = directory->changed = world.now;
}

/// Errors of a place where a name is to be made.
static int check_new(const struct place *place) {
    if (place->inode != 0 || place->is_special) return EEXIST;
    if (place->is_long) return ENAMETOOLONG;
    // A removed directory that is still open.
    if (inode_of(place->directory)->links == 0) return ENOENT;
    return refuse_names(inode_of(place->directory), NULL);
}

static void put(inode_id directory, struct name *name, struct inode *inode) {
    struct inode *parent = inode_of(directory);
    table_add(&parent->present, name, inode->id);
    inode_retain(inode->id);
    inode->parent = directory;
    if (is_directory(inode)) parent->links++;
    stamp_directory(parent);
}

/// Takes a name from a directory; the inode loses a link.
static void take(inode_id directory, struct entry *entry) {
    struct inode *parent = inode_of(directory);
    struct inode *inode = inode_of(entry->inode);
    table_remove(&parent->present, entry);
    if (is_directory(inode)) {
        inode->links = 0;
        inode->parent = 0;
        parent->links--;
    } else {
        inode->links--;
    }
    inode_touch(inode);
    stamp_directory(parent);
    inode_check_visible(inode);
    inode_release(inode->id);
}

int tree_create(struct place *place, mode_t mode, const char *target, struct inode **made) {
    int code = check_new(place);
    if (code != 0) return code;
    if (place->has_trailing_slash && !S_ISDIR(mode)) return ENOENT;
    struct inode *inode = inode_make(mode);
    if (inode == NULL) return ENOSPC;
    inode->links = S_ISDIR(mode) ? 2 : 1;
    inherit_rights(inode_of(place->directory), inode);
    if (target != NULL) inode->target = name_make(target, strlen(target));
    struct name *name = name_make(place->name, place->length);
    put(place->directory, name, inode);
    log_change(CHANGE_ADD, inode->id, place->directory, name, 0, NULL, 0);
    name_release(name);
    if (made != NULL) *made = inode;
    return 0;
}

int tree_unlink(struct place *place, bool directory) {
    if (place->is_special) {
        if (!directory) return EISDIR;
        if (place->inode == ROOT) return EBUSY;
        return EINVAL;
    }
    if (place->is_long) return ENAMETOOLONG;
    if (place->inode == 0) return ENOENT;
    struct inode *inode = inode_of(place->inode);
    if (mount_at(place->inode) != NULL) return EBUSY;
    if (directory && !is_directory(inode)) return ENOTDIR;
    if (!directory && is_directory(inode)) return EISDIR;
    if (!directory && place->has_trailing_slash) return ENOTDIR;
    if (directory && inode->present.count > 0) return ENOTEMPTY;
    int code = refuse_names(inode_of(place->directory), inode);
    if (code != 0) return code;
    struct entry *entry = table_find(
        &inode_of(place->directory)->present, place->name, place->length, place->hash);
    log_change(CHANGE_REMOVE, inode->id, place->directory, entry->name, 0, NULL, 0);
    take(place->directory, entry);
    return 0;
}

/// Whether `directory` is `ancestor` or in it.
static bool is_within(inode_id directory, inode_id ancestor) {
    while (directory != ancestor) {
        if (directory == ROOT || directory == 0) return false;
        directory = inode_of(directory)->parent;
    }
    return true;
}

static int check_rename(const struct place *from, const struct place *to, bool exclusive) {
    if (mount_of(from->directory) != mount_of(to->directory)) return EXDEV;
    if (mount_at(from->inode) != NULL || mount_at(to->inode) != NULL) return EBUSY;
    if (from->is_special) return EBUSY;
    if (to->is_special) return exclusive ? EEXIST : EBUSY;
    if (from->is_long) return ENAMETOOLONG;
    if (from->inode == 0) return ENOENT;
    if (to->is_long) return ENAMETOOLONG;
    if (exclusive && to->inode != 0) return EEXIST;
    struct inode *inode = inode_of(from->inode);
    struct inode *other = to->inode == 0 ? NULL : inode_of(to->inode);
    int code = refuse_names(inode_of(from->directory), inode);
    if (code == 0) code = refuse_names(inode_of(to->directory), other);
    if (code != 0) return code;
    if (is_directory(inode)) {
        if (is_within(to->directory, from->inode)) return EINVAL;
    } else if (from->has_trailing_slash || to->has_trailing_slash) {
        return ENOTDIR;
    }
    if (to->inode == 0) return inode_of(to->directory)->links == 0 ? ENOENT : 0;
    struct inode *replaced = inode_of(to->inode);
    // The source in the target, or below it.
    if (is_within(from->directory, to->inode)) return ENOTEMPTY;
    if (replaced == inode) return 0;
    if (is_directory(inode)) {
        if (!is_directory(replaced)) return ENOTDIR;
        return replaced->present.count > 0 ? ENOTEMPTY : 0;
    }
    return is_directory(replaced) ? EISDIR : 0;
}

int tree_rename(struct place *from, struct place *to, bool exclusive) {
    int code = check_rename(from, to, exclusive);
    if (code != 0 || from->inode == to->inode) return code;
    struct inode *inode = inode_of(from->inode);
    struct inode *old_parent = inode_of(from->directory);
    struct entry *entry = table_find(&old_parent->present, from->name, from->length, from->hash);
    struct name *old_name = name_retain(entry->name);
    struct name *new_name = name_make(to->name, to->length);
    log_change(
        CHANGE_MOVE, inode->id, from->directory, old_name, to->directory, new_name, to->inode);
    if (to->inode != 0) {
        struct table *table = &inode_of(to->directory)->present;
        take(to->directory, table_find_name(table, new_name));
        entry = table_find_name(&old_parent->present, old_name);
    }
    table_remove(&old_parent->present, entry);
    if (is_directory(inode)) old_parent->links--;
    stamp_directory(old_parent);
    put(to->directory, new_name, inode);
    inode_release(inode->id);
    inode_touch(inode);
    name_release(old_name);
    name_release(new_name);
    return 0;
}

static int check_exchange(const struct place *from, const struct place *to) {
    if (mount_of(from->directory) != mount_of(to->directory)) return EXDEV;
    if (mount_at(from->inode) != NULL || mount_at(to->inode) != NULL) return EBUSY;
    if (from->is_special || to->is_special) return EBUSY;
    if (from->is_long) return ENAMETOOLONG;
    if (from->inode == 0) return ENOENT;
    if (to->is_long) return ENAMETOOLONG;
    if (to->inode == 0) return ENOENT;
    const struct place *places[2] = {from, to};
    for (int i = 0; i < 2; i++) {
        struct inode *directory = inode_of(places[i]->directory);
        int code = refuse_names(directory, inode_of(places[i]->inode));
        if (code != 0) return code;
        bool is_tree = is_directory(inode_of(places[i]->inode));
        if (!is_tree && places[i]->has_trailing_slash) return ENOTDIR;
    }
    if (is_within(to->directory, from->inode)) return EINVAL;
    return is_within(from->directory, to->inode) ? EINVAL : 0;
}

/// Puts another file or directory under a name that is there.
static void reassign(inode_id directory, struct name *name, struct inode *inode) {
    struct inode *parent = inode_of(directory);
    struct entry *entry = table_find_name(&parent->present, name);
    if (is_directory(inode_of(entry->inode))) parent->links--;
    inode_release(entry->inode);
    table_remove(&parent->present, entry);
    put(directory, name, inode);
    inode_touch(inode);
}

int tree_exchange(struct place *from, struct place *to) {
    int code = check_exchange(from, to);
    if (code != 0 || from->inode == to->inode) return code;
    struct inode *first = inode_of(from->inode), *second = inode_of(to->inode);
    struct name *first_name = name_make(from->name, from->length);
    struct name *second_name = name_make(to->name, to->length);
    log_change(
        CHANGE_EXCHANGE, first->id, from->directory, first_name, to->directory, second_name,
        second->id);
    inode_retain(first->id);
    inode_retain(second->id);
    reassign(from->directory, first_name, second);
    reassign(to->directory, second_name, first);
    inode_release(first->id);
    inode_release(second->id);
    name_release(first_name);
    name_release(second_name);
    return 0;
}

int tree_link(struct inode *inode, struct place *place) {
    int code = check_new(place);
    if (code != 0) return code;
    if (place->has_trailing_slash) return ENOENT;
    if (is_directory(inode)) return EPERM;
    if (inode->links == 0) return ENOENT;
    struct name *name = name_make(place->name, place->length);
    inode->links++;
    inode_touch(inode);
    put(place->directory, name, inode);
    log_change(CHANGE_ADD, inode->id, place->directory, name, 0, NULL, 0);
    name_release(name);
    return 0;
}
#endif
