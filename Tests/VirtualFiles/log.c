// Changes of names that are not durable yet, in their order.
#if defined(__linux__)
#include "internal.h"

#include <stdlib.h>

void log_change(
    enum change_kind kind, inode_id inode, inode_id directory, struct name *name,
    inode_id new_directory, struct name *new_name, inode_id replaced
) {
    struct disk *disk = &world.disk;
    if (disk->log_count == disk->log_capacity) {
        disk->log_capacity = disk->log_capacity == 0 ? 64 : disk->log_capacity * 2;
        disk->log = realloc(disk->log, disk->log_capacity * sizeof(struct change));
        if (disk->log == NULL) abort();
    }
    disk->log[disk->log_count++] = (struct change){
        .kind = kind, .inode = inode, .directory = directory, .name = name_retain(name),
        .new_directory = new_directory, .new_name = name_retain(new_name), .replaced = replaced,
    };
    inode_retain(inode);
    inode_retain(directory);
    inode_retain(new_directory);
    inode_retain(replaced);
}

static void change_free(struct change *change) {
    name_release(change->name);
    name_release(change->new_name);
    inode_release(change->inode);
    inode_release(change->directory);
    inode_release(change->new_directory);
    inode_release(change->replaced);
}

// MARK: - Doing changes to the durable names

static void settle_name(inode_id directory, struct name *name, inode_id inode) {
    table_add(&inode_of(directory)->settled, name, inode);
    inode_of(inode)->settled_links++;
    inode_retain(inode);
    if (is_directory(inode_of(inode))) inode_of(inode)->settled_parent = directory;
}

static void unsettle_name(inode_id directory, struct entry *entry) {
    inode_id id = entry->inode;
    struct inode *inode = inode_of(id);
    table_remove(&inode_of(directory)->settled, entry);
    inode->settled_links--;
    if (is_directory(inode)) inode->settled_parent = 0;
    inode_release(id);
}

/// Whether `directory` is `ancestor` or in it, by its durable names.
static bool is_within(inode_id directory, inode_id ancestor) {
    while (directory != ancestor) {
        if (directory == ROOT || directory == 0) return false;
        directory = inode_of(directory)->settled_parent;
    }
    return true;
}

static void settle_move(const struct change *change) {
    struct inode *inode = inode_of(change->inode);
    struct table *old_table = &inode_of(change->directory)->settled;
    struct table *new_table = &inode_of(change->new_directory)->settled;
    // A directory that is not there would take the file with it.
    if (!is_within(change->new_directory, ROOT)) return;
    if (is_directory(inode) && is_within(change->new_directory, change->inode)) return;
    struct entry *source = table_find_name(old_table, change->name);
    if (source != NULL && source->inode != change->inode) source = NULL;
    // It never came to the old name: it must not have come to a third one either.
    if (source == NULL && inode->settled_links > 0) return;
    struct entry *target = table_find_name(new_table, change->new_name);
    if (target != NULL) {
        if (target->inode != change->replaced) return;
        if (inode_of(target->inode)->settled.count > 0) return;
        unsettle_name(change->new_directory, target);
        source = table_find_name(old_table, change->name);
        if (source != NULL && source->inode != change->inode) source = NULL;
    }
    inode_retain(change->inode);
    if (source != NULL) unsettle_name(change->directory, source);
    settle_name(change->new_directory, change->new_name, change->inode);
    inode_release(change->inode);
}

/// Both names get the other's file, or neither does: where one of them is not what it was, an
/// earlier change is missing, and this one with it.
static void settle_exchange(const struct change *change) {
    inode_id directories[2] = {change->directory, change->new_directory};
    struct name *names[2] = {change->name, change->new_name};
    inode_id inodes[2] = {change->inode, change->replaced};
    for (int i = 0; i < 2; i++) {
        struct entry *entry = table_find_name(&inode_of(directories[i])->settled, names[i]);
        if (entry == NULL || entry->inode != inodes[i]) return;
        if (!is_within(directories[i], ROOT)) return;
        // No directory comes to lie in itself.
        if (is_directory(inode_of(inodes[i])) && is_within(directories[1 - i], inodes[i])) return;
    }
    for (int i = 0; i < 2; i++) inode_retain(inodes[i]);
    for (int i = 0; i < 2; i++) {
        struct table *table = &inode_of(directories[i])->settled;
        unsettle_name(directories[i], table_find_name(table, names[i]));
    }
    for (int i = 0; i < 2; i++) settle_name(directories[i], names[i], inodes[1 - i]);
    for (int i = 0; i < 2; i++) inode_release(inodes[i]);
}

void change_settle(const struct change *change) {
    struct table *table = &inode_of(change->directory)->settled;
    struct entry *entry = table_find_name(table, change->name);
    switch (change->kind) {
    case CHANGE_ADD:
        if (entry == NULL) settle_name(change->directory, change->name, change->inode);
        break;
    case CHANGE_REMOVE:
        if (entry == NULL || entry->inode != change->inode) break;
        if (inode_of(entry->inode)->settled.count > 0) break;
        unsettle_name(change->directory, entry);
        break;
    case CHANGE_MOVE:
        settle_move(change);
        break;
    case CHANGE_EXCHANGE:
        settle_exchange(change);
        break;
    }
}

// MARK: - Choosing changes

static bool touches(const struct change *change, inode_id directory) {
    return change->directory == directory || change->new_directory == directory;
}

static bool is_at(inode_id directory, const struct name *name, const struct change *change) {
    if (directory == 0) return false;
    if (change->directory == directory && change->name->hash == name->hash
        && change->name->length == name->length
        && memcmp(change->name->text, name->text, name->length) == 0) return true;
    return change->new_directory == directory && change->new_name->hash == name->hash
        && change->new_name->length == name->length
        && memcmp(change->new_name->text, name->text, name->length) == 0;
}

enum { NOT_CHOSEN = 0, CHOSEN = 1, CHOSEN_WITH_PLACE = 2 };

/// What an earlier change must be so that a later, chosen one can be durable.
static int demand(const struct change *earlier, const struct change *later) {
    // The directory that a file moves to must be there itself.
    bool moves = later->kind == CHANGE_MOVE || later->kind == CHANGE_EXCHANGE;
    bool needs_place = moves || later->chosen == CHOSEN_WITH_PLACE;
    inode_id place = moves ? later->new_directory : later->directory;
    if (needs_place && earlier->inode == place && earlier->kind != CHANGE_REMOVE) {
        return CHOSEN_WITH_PLACE;
    }
    if (later->kind == CHANGE_EXCHANGE && earlier->inode == later->directory
        && earlier->kind != CHANGE_REMOVE) return CHOSEN_WITH_PLACE;
    if (is_at(later->directory, later->name, earlier)) return CHOSEN;
    if (is_at(later->new_directory, later->new_name, earlier)) return CHOSEN;
    // A directory that is removed must be empty.
    inode_id gone = later->kind == CHANGE_REMOVE ? later->inode : later->replaced;
    if (later->kind == CHANGE_EXCHANGE) gone = 0;
    if (gone != 0 && touches(earlier, gone)) return CHOSEN;
    return NOT_CHOSEN;
}

/// Chooses, beside the chosen ones, the earlier changes that they rest on.
static void choose_causes(void) {
    struct disk *disk = &world.disk;
    for (uint32_t later = disk->log_count; later-- > 0;) {
        if (disk->log[later].chosen == NOT_CHOSEN) continue;
        for (uint32_t earlier = 0; earlier < later; earlier++) {
            int wanted = demand(&disk->log[earlier], &disk->log[later]);
            if (disk->log[earlier].chosen < wanted) disk->log[earlier].chosen = (uint8_t)wanted;
        }
    }
}

static void settle_chosen(void) {
    struct disk *disk = &world.disk;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < disk->log_count; i++) {
        struct change change = disk->log[i];
        if (change.chosen == NOT_CHOSEN) {
            disk->log[kept++] = change;
        } else {
            change_settle(&change);
            change_free(&change);
        }
    }
    disk->log_count = kept;
}

/// What the order of each directory says is durable with the changes of `directory`.
static void mark_prefix(inode_id directory) {
    struct disk *disk = &world.disk;
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        if (disk->inodes[i] != NULL) disk->inodes[i]->is_marked = i == directory;
    }
    for (uint32_t i = disk->log_count; i-- > 0;) {
        struct change *change = &disk->log[i];
        bool is_in = inode_of(change->directory)->is_marked
            || (change->new_directory != 0 && inode_of(change->new_directory)->is_marked);
        if (!is_in) continue;
        change->in_prefix = true;
        inode_of(change->directory)->is_marked = true;
        if (change->new_directory != 0) inode_of(change->new_directory)->is_marked = true;
    }
}

static void mark_journal(void) {
    for (uint32_t i = 0; i < world.disk.log_count; i++) world.disk.log[i].in_journal = true;
}

void log_sync_directory(inode_id directory) {
    if (world.disk.log_count == 0) return;
    mark_journal();
    mark_prefix(directory);
    for (uint32_t i = 0; i < world.disk.log_count; i++) {
        struct change *change = &world.disk.log[i];
        change->chosen = touches(change, directory) ? CHOSEN : NOT_CHOSEN;
    }
    choose_causes();
    settle_chosen();
}

void log_sync_names(inode_id inode) {
    if (world.disk.log_count == 0) return;
    mark_journal();
    for (uint32_t i = 0; i < world.disk.log_count; i++) {
        struct change *change = &world.disk.log[i];
        bool names = change->inode == inode && change->kind != CHANGE_REMOVE;
        change->chosen = names ? CHOSEN_WITH_PLACE : NOT_CHOSEN;
    }
    choose_causes();
    settle_chosen();
}

void log_sync_all(void) {
    for (uint32_t i = 0; i < world.disk.log_count; i++) world.disk.log[i].chosen = CHOSEN;
    settle_chosen();
}

void log_clear(struct disk *disk) {
    for (uint32_t i = 0; i < disk->log_count; i++) {
        name_release(disk->log[i].name);
        name_release(disk->log[i].new_name);
    }
    disk->log_count = 0;
}
#endif
