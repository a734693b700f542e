// Who may do what: modes, access control lists, sticky and set-group-ID directories.
#if defined(__linux__)
#include "internal.h"

enum acl_tag {
    OWNER = 0x01, USER = 0x02, OWNING_GROUP = 0x04, GROUP = 0x08, MASK = 0x10, OTHERS = 0x20,
};

static struct acl_entry *acl_find(struct acl *acl, uint16_t tag) {
    for (uint32_t i = 0; i < acl->count; i++) {
        if (acl->entries[i].tag == tag) return &acl->entries[i];
    }
    return NULL;
}

/// The entry that the middle digit of the mode shows.
static struct acl_entry *acl_middle(struct acl *acl) {
    struct acl_entry *mask = acl_find(acl, MASK);
    return mask != NULL ? mask : acl_find(acl, OWNING_GROUP);
}

static bool is_superuser(void) {
    return !world.has_rights || !world.has_hook_enabled;
}

static bool is_member(gid_t group) { return group == world.group || group == world.other_group; }

/// What the list, or the mode without one, gives to the caller.
static int granted(struct inode *inode) {
    mode_t mode = inode->now.mode;
    if (inode->now.uid == world.user) return mode >> 6 & 7;
    struct acl *acl = &inode->access;
    if (acl->count == 0) return (is_member(inode->now.gid) ? mode >> 3 : mode) & 7;
    int mask = mode >> 3 & 7;
    bool is_in_group = false;
    int sum = 0;
    for (uint32_t i = 0; i < acl->count; i++) {
        const struct acl_entry *entry = &acl->entries[i];
        if (entry->tag == USER && entry->id == world.user) return entry->bits & mask;
        bool names_group = entry->tag == OWNING_GROUP ? is_member(inode->now.gid)
            : entry->tag == GROUP && is_member(entry->id);
        if (!names_group) continue;
        is_in_group = true;
        // One of the entries must have all that is asked for; of two that have a part each, which
        // no history makes, this would give the sum.
        sum |= entry->bits;
    }
    return is_in_group ? sum & mask : mode & 7;
}

int refuse_access(struct inode *inode, int bits) {
    if (is_superuser()) return 0;
    return (granted(inode) & bits) == bits ? 0 : EACCES;
}

int refuse_owner(const struct inode *inode) {
    return is_superuser() || inode->now.uid == world.user ? 0 : EPERM;
}

int refuse_group(const struct inode *inode, uid_t user, gid_t group) {
    if (is_superuser()) return 0;
    if (user != (uid_t)-1 && user != inode->now.uid) return EPERM;
    if (group == (gid_t)-1) return 0;
    if (inode->now.uid != world.user) return EPERM;
    return group == inode->now.gid || is_member(group) ? 0 : EPERM;
}

int refuse_names(struct inode *directory, const struct inode *victim) {
    int code = refuse_access(directory, 3);
    if (code != 0 || victim == NULL || is_superuser()) return code;
    bool is_sticky = directory->now.mode & S_ISVTX;
    bool is_own = victim->now.uid == world.user || directory->now.uid == world.user;
    return is_sticky && !is_own ? EPERM : 0;
}

// MARK: - What new files get

void inherit_rights(const struct inode *parent, struct inode *made) {
    if (parent->now.mode & S_ISGID) {
        made->now.gid = parent->now.gid;
        if (is_directory(made)) made->now.mode |= S_ISGID;
    }
    if (S_ISLNK(made->now.mode)) return;
    if (parent->inherited.count == 0) {
        made->now.mode &= ~world.umask;
    } else {
        struct acl acl = parent->inherited;
        if (is_directory(made)) made->inherited = acl;
        mode_t mode = made->now.mode;
        acl_find(&acl, OWNER)->bits &= mode >> 6 & 7;
        acl_middle(&acl)->bits &= mode >> 3 & 7;
        acl_find(&acl, OTHERS)->bits &= mode & 7;
        set_acl(made, &acl);
    }
    made->durable = made->now;
}

// MARK: - Lists

void set_acl(struct inode *inode, const struct acl *acl) {
    struct acl copy = *acl;
    mode_t bits = (mode_t)(acl_find(&copy, OWNER)->bits << 6 | acl_middle(&copy)->bits << 3
        | acl_find(&copy, OTHERS)->bits);
    inode->now.mode = (inode->now.mode & ~(mode_t)0777) | bits;
    inode->access = copy;
    // As on a disk, one that says no more than the mode is not kept.
    if (acl_find(&copy, MASK) == NULL && copy.count == 3) inode->access.count = 0;
}

void acl_follow_mode(struct inode *inode) {
    struct acl *acl = &inode->access;
    if (acl->count == 0) return;
    acl_find(acl, OWNER)->bits = inode->now.mode >> 6 & 7;
    acl_middle(acl)->bits = inode->now.mode >> 3 & 7;
    acl_find(acl, OTHERS)->bits = inode->now.mode & 7;
}

bool is_valid_acl(struct acl *acl) {
    if (acl_find(acl, OWNER) == NULL || acl_find(acl, OWNING_GROUP) == NULL) return false;
    bool is_long = acl_find(acl, USER) != NULL || acl_find(acl, GROUP) != NULL;
    return acl_find(acl, OTHERS) != NULL && (!is_long || acl_find(acl, MASK) != NULL);
}

// MARK: - What the world asks for

void virtual_files_set_rights(uint32_t other_group) {
    lock_world();
    world.has_rights = true;
    world.other_group = other_group;
    unlock_world();
}

void virtual_files_set_umask(uint32_t mask) { world.umask = mask & 0777; }

static uint32_t granted_to(struct inode *inode, uid_t user, gid_t group) {
    uid_t own_user = world.user;
    gid_t own_group = world.group, own_other = world.other_group;
    world.user = user;
    world.group = world.other_group = group;
    uint32_t bits = (uint32_t)granted(inode);
    world.user = own_user;
    world.group = own_group;
    world.other_group = own_other;
    return bits;
}

/// What is at a path, as the world sees it; NULL if there is nothing.
static struct inode *seen_at(const char *path) {
    bool has_rights = world.has_rights;
    world.has_rights = false;
    struct place place;
    int code = walk(ROOT, path, 0, &place);
    world.has_rights = has_rights;
    return code == 0 && place.inode != 0 ? inode_of(place.inode) : NULL;
}

uint32_t virtual_files_granted(const char *path, uint32_t user, uint32_t group) {
    lock_world();
    struct inode *inode = seen_at(path);
    uint32_t bits = inode == NULL ? 0 : granted_to(inode, user, group);
    unlock_world();
    return bits;
}

uint32_t virtual_files_granted_new(const char *directory, uint32_t user, uint32_t group) {
    lock_world();
    const struct inode *parent = seen_at(directory);
    uint32_t bits = 0;
    if (parent != NULL) {
        struct inode made = {0};
        made.now = (struct metadata){S_IFREG | 0666, world.user, world.group, {0, 0}, {0, 0}};
        inherit_rights(parent, &made);
        bits = granted_to(&made, user, group);
    }
    unlock_world();
    return bits;
}

bool virtual_files_damage(const char *path, int64_t offset, uint8_t flipped) {
    lock_world();
    struct inode *inode = seen_at(path);
    bool is_done = inode != NULL && is_file(inode) && offset < inode->content.size;
    if (is_done) {
        struct content *content = &inode->content;
        unsigned char byte;
        content_read(content, &byte, 1, offset);
        byte ^= flipped;
        is_done = content_write(content, &byte, 1, offset) == 1;
        content_sync(content);
    }
    unlock_world();
    return is_done;
}
#endif
