// Directories in whose place others are seen.
#if defined(__linux__)
#include "internal.h"

inode_id mount_over(inode_id covered) {
    for (uint32_t i = 0; i < world.mount_count; i++) {
        if (world.mounts[i].covered == covered) return world.mounts[i].root;
    }
    return covered;
}

const struct mount *mount_at(inode_id root) {
    for (uint32_t i = 0; i < world.mount_count; i++) {
        if (world.mounts[i].root == root) return &world.mounts[i];
    }
    return NULL;
}

const struct mount *mount_of(inode_id id) {
    if (world.mount_count == 0) return NULL;
    while (id != 0 && id != ROOT) {
        const struct mount *found = mount_at(id);
        if (found != NULL) return found;
        const struct inode *inode = inode_of(id);
        // The directory that a file with several names was given its last one in may be gone.
        if (inode == NULL) return NULL;
        id = inode->parent;
    }
    return NULL;
}

void mounts_prune(void) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < world.mount_count; i++) {
        struct mount mount = world.mounts[i];
        if (inode_of(mount.covered) == NULL || inode_of(mount.root) == NULL) continue;
        world.mounts[kept++] = mount;
    }
    world.mount_count = kept;
}

/// The directory at a path, or 0.
static inode_id directory_at(const char *path) {
    struct place place;
    if (!is_beneath_root(path) || walk(ROOT, path, WALK_FOLLOW, &place) != 0) return 0;
    if (place.inode == 0 || !is_directory(inode_of(place.inode))) return 0;
    return place.inode;
}

bool virtual_files_mount(const char *source, const char *target, bool is_other_device) {
    lock_world();
    inode_id root = directory_at(source), covered = directory_at(target);
    bool is_possible = root > ROOT && covered > ROOT && root != covered
        && mount_at(root) == NULL && mount_at(covered) == NULL
        && world.mount_count < MOUNT_LIMIT;
    if (is_possible) {
        world.mounts[world.mount_count++] = (struct mount){
            .covered = covered, .root = root, .number = ++world.last_mount,
            .is_other_device = is_other_device,
        };
    }
    unlock_world();
    return is_possible;
}

bool virtual_files_unmount(const char *target) {
    lock_world();
    const struct mount *found = mount_at(directory_at(target));
    if (found != NULL) {
        uint32_t place = (uint32_t)(found - world.mounts);
        world.mount_count--;
        memmove(
            &world.mounts[place], &world.mounts[place + 1],
            (world.mount_count - place) * sizeof(struct mount));
    }
    unlock_world();
    return found != NULL;
}
#endif
