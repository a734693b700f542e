#if defined(__linux__)
#include "internal.h"

void inode_sync(struct inode *inode, bool data_only) {
    content_sync(&inode->content);
    if (!data_only) inode->durable = inode->now;
    if (is_directory(inode)) {
        log_sync_directory(inode->id);
    } else if (world.fsync_names) {
        log_sync_names(inode->id);
    }
}

void disk_sync(void) {
    log_sync_all();
    struct disk *disk = &world.disk;
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        struct inode *inode = disk->inodes[i];
        if (inode == NULL) continue;
        content_sync(&inode->content);
        inode->durable = inode->now;
    }
}

/// Chances in 4 of what is newest; all and nothing are frequent, because much rests on them.
static uint32_t mood(struct generator *generator) {
    return (uint32_t)generator_below(generator, 5);
}

static void keep_prefix(struct generator *generator, uint32_t newest) {
    struct disk *disk = &world.disk;
    uint32_t least = 0;
    for (uint32_t i = 0; i < disk->log_count; i++) {
        if (disk->log[i].in_journal) least = i + 1;
    }
    uint32_t kept = disk->log_count;
    if (newest < 4) kept = least + (uint32_t)generator_below(generator, kept - least + 1);
    for (uint32_t i = 0; i < kept; i++) change_settle(&disk->log[i]);
}

static void keep_directory_prefixes(struct generator *generator, uint32_t newest) {
    struct disk *disk = &world.disk;
    // A marked directory has lost a change, and loses all later ones.
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        if (disk->inodes[i] != NULL) disk->inodes[i]->is_marked = false;
    }
    for (uint32_t i = 0; i < disk->log_count; i++) {
        const struct change *change = &disk->log[i];
        struct inode *directory = inode_of(change->directory);
        struct inode *other = directory;
        if (change->new_directory != 0) other = inode_of(change->new_directory);
        bool is_kept = change->in_prefix
            || (!directory->is_marked && !other->is_marked
                // Prefixes end late enough for several changes.
                && (generator_below(generator, 4) < newest || generator_below(generator, 4) != 0));
        if (newest == 0 && !change->in_prefix) is_kept = false;
        if (is_kept) {
            change_settle(change);
        } else {
            directory->is_marked = other->is_marked = true;
        }
    }
}

static void keep_any(struct generator *generator, uint32_t newest) {
    for (uint32_t i = 0; i < world.disk.log_count; i++) {
        if (generator_below(generator, 4) < newest) change_settle(&world.disk.log[i]);
    }
}

void power_cut(uint64_t seed, enum virtual_files_power_mode mode) {
    struct generator generator = {mix(seed)};
    uint32_t names = mood(&generator);
    uint32_t data = mood(&generator);
    switch (mode) {
    case VIRTUAL_FILES_JOURNAL: keep_prefix(&generator, names); break;
    case VIRTUAL_FILES_DIRECTORY_PREFIX: keep_directory_prefixes(&generator, names); break;
    case VIRTUAL_FILES_ANY_SUBSET: keep_any(&generator, names); break;
    }
    log_clear(&world.disk);
    disk_settle(&world.disk);
    for (uint32_t i = 1; i < world.disk.inode_limit; i++) {
        struct inode *inode = world.disk.inodes[i];
        if (inode == NULL) continue;
        content_cut(&inode->content, &generator, data);
        mode_t type = inode->now.mode & S_IFMT;
        if (generator_below(&generator, 4) >= data) inode->now = inode->durable;
        inode->now.mode = (inode->now.mode & ~(mode_t)S_IFMT) | type;
        inode->durable = inode->now;
    }
    world.disk.used_pages = 0;
    for (uint32_t i = 1; i < world.disk.inode_limit; i++) {
        if (world.disk.inodes[i] != NULL) {
            world.disk.used_pages += world.disk.inodes[i]->content.pages;
        }
    }
}
#endif
