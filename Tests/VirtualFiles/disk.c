#if defined(__linux__)
#include "internal.h"

#include <stdlib.h>

struct world world;

static void *more(void *array, uint32_t *capacity, size_t size) {
    *capacity = *capacity == 0 ? 64 : *capacity * 2;
    array = realloc(array, *capacity * size);
    if (array == NULL) abort();
    return array;
}

/// Numbers that are used again stay below those that are used once.
enum { FIRST_USED_ONCE = 1000000 };

static uint64_t take_number(struct disk *disk, inode_id id) {
    if (id == ROOT) return 2;
    if (!world.reuses_inodes) return FIRST_USED_ONCE + disk->next_number++;
    if (disk->free_number_count == 0) return 11 + disk->next_number++;
    uint32_t least = 0;
    for (uint32_t i = 1; i < disk->free_number_count; i++) {
        if (disk->free_numbers[i] < disk->free_numbers[least]) least = i;
    }
    uint64_t number = disk->free_numbers[least];
    disk->free_numbers[least] = disk->free_numbers[--disk->free_number_count];
    return number;
}

static void give_number(struct disk *disk, uint64_t number) {
    if (number < 11 || number >= FIRST_USED_ONCE) return;
    if (disk->free_number_count == disk->free_number_capacity) {
        disk->free_numbers = more(
            disk->free_numbers, &disk->free_number_capacity, sizeof(uint64_t));
    }
    disk->free_numbers[disk->free_number_count++] = number;
}

static struct inode *add_inode(struct disk *disk, mode_t mode) {
    inode_id id;
    if (disk->free_count > 0) {
        id = disk->free_ids[--disk->free_count];
    } else {
        id = disk->inode_limit++;
        if (id >= disk->inode_capacity) {
            disk->inodes = more(disk->inodes, &disk->inode_capacity, sizeof(struct inode *));
        }
    }
    struct inode *inode = calloc(1, sizeof *inode);
    if (inode == NULL) abort();
    disk->inodes[id] = inode;
    inode->id = id;
    inode->number = take_number(disk, id);
    inode->now = (struct metadata){mode, world.user, world.group, world.now, world.now};
    inode->durable = inode->now;
    inode->changed = inode->born = world.now;
    return inode;
}

struct inode *inode_make(mode_t mode) {
    struct disk *disk = &world.disk;
    if (world.capacity_inodes >= 0 && disk->used_inodes >= world.capacity_inodes) return NULL;
    disk->used_inodes++;
    return add_inode(disk, mode);
}

void inode_touch(struct inode *inode) { inode->changed = world.now; }

void inode_retain(inode_id id) {
    if (id != 0) inode_of(id)->references++;
}

static void free_inode(struct disk *disk, struct inode *inode) {
    content_free(&inode->content);
    name_release(inode->target);
    table_free(&inode->present);
    table_free(&inode->settled);
    disk->inodes[inode->id] = NULL;
    free(inode);
}

static void forget_id(struct disk *disk, inode_id id) {
    if (disk->free_count == disk->free_capacity) {
        disk->free_ids = more(disk->free_ids, &disk->free_capacity, sizeof(uint32_t));
    }
    disk->free_ids[disk->free_count++] = id;
}

void inode_release(inode_id id) {
    if (id == 0) return;
    struct inode *inode = inode_of(id);
    if (--inode->references > 0 || id == ROOT) return;
    for (uint32_t i = 0; i < inode->settled.count; i++) {
        inode_id child = inode->settled.entries[i].inode;
        inode_of(child)->settled_links--;
        inode_release(child);
    }
    free_inode(&world.disk, inode);
    forget_id(&world.disk, id);
}

void inode_check_visible(struct inode *inode) {
    if (inode->links > 0 || inode->opens > 0 || inode->id == ROOT) return;
    world.disk.used_inodes--;
    world.disk.used_pages -= inode->content.pages;
    give_number(&world.disk, inode->number);
}

void disk_make(struct disk *disk) {
    memset(disk, 0, sizeof *disk);
    // Id 0 is nobody.
    disk->inode_limit = 1;
    disk->inodes = more(NULL, &disk->inode_capacity, sizeof(struct inode *));
    disk->inodes[0] = NULL;
    struct inode *root = add_inode(disk, S_IFDIR | 0755);
    root->links = 2;
    root->references = 1;
    root->parent = root->settled_parent = ROOT;
}

static void *copy_array(const void *array, size_t size) {
    if (size == 0) return NULL;
    void *copy = malloc(size);
    if (copy == NULL) abort();
    memcpy(copy, array, size);
    return copy;
}

static struct inode *copy_inode(const struct inode *from) {
    struct inode *to = copy_array(from, sizeof *from);
    content_copy(&to->content, &from->content);
    name_retain(to->target);
    table_copy(&to->present, &from->present);
    table_copy(&to->settled, &from->settled);
    return to;
}

void disk_copy(struct disk *to, const struct disk *from) {
    *to = *from;
    to->inodes = copy_array(from->inodes, from->inode_capacity * sizeof(struct inode *));
    to->free_ids = copy_array(from->free_ids, from->free_capacity * sizeof(uint32_t));
    to->free_numbers = copy_array(
        from->free_numbers, from->free_number_capacity * sizeof(uint64_t));
    to->log = copy_array(from->log, from->log_capacity * sizeof(struct change));
    for (uint32_t i = 1; i < to->inode_limit; i++) {
        if (from->inodes[i] != NULL) to->inodes[i] = copy_inode(from->inodes[i]);
    }
    for (uint32_t i = 0; i < to->log_count; i++) {
        name_retain(to->log[i].name);
        name_retain(to->log[i].new_name);
    }
}

void disk_free(struct disk *disk) {
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        if (disk->inodes[i] != NULL) free_inode(disk, disk->inodes[i]);
    }
    for (uint32_t i = 0; i < disk->log_count; i++) {
        name_release(disk->log[i].name);
        name_release(disk->log[i].new_name);
    }
    free(disk->inodes);
    free(disk->free_ids);
    free(disk->free_numbers);
    free(disk->log);
    memset(disk, 0, sizeof *disk);
}

/// Marks what the durable names lead to, and counts it.
static void mark(struct disk *disk, struct inode *inode) {
    inode->is_marked = true;
    table_free(&inode->present);
    table_copy(&inode->present, &inode->settled);
    inode->parent = inode->settled_parent;
    inode->links = 2;
    for (uint32_t i = 0; i < inode->present.count; i++) {
        struct inode *child = disk->inodes[inode->present.entries[i].inode];
        child->references += 2;
        child->settled_links++;
        if (is_directory(child)) {
            inode->links++;
            mark(disk, child);
        } else {
            child->is_marked = true;
            child->parent = inode->id;
            child->links++;
        }
    }
}

/// Two files that had one number at different times can both be there after a power cut.
static void separate_numbers(struct disk *disk) {
    uint64_t limit = 0;
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        struct inode *inode = disk->inodes[i];
        if (inode != NULL && inode->number < FIRST_USED_ONCE && inode->number >= limit) {
            limit = inode->number + 1;
        }
    }
    unsigned char *used = calloc(limit + 1, 1);
    if (used == NULL) abort();
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        struct inode *inode = disk->inodes[i];
        if (inode == NULL || inode->number >= FIRST_USED_ONCE) continue;
        if (used[inode->number]) inode->number = 11 + disk->next_number++;
        else used[inode->number] = 1;
    }
    disk->free_number_count = 0;
    for (uint64_t number = limit; number-- > 11;) {
        if (!used[number]) give_number(disk, number);
    }
    free(used);
}

void disk_settle(struct disk *disk) {
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        struct inode *inode = disk->inodes[i];
        if (inode == NULL) continue;
        inode->is_marked = false;
        inode->links = inode->settled_links = inode->opens = 0;
        inode->references = i == ROOT ? 1 : 0;
    }
    mark(disk, disk->inodes[ROOT]);
    disk->used_pages = 0;
    disk->used_inodes = 0;
    disk->free_count = 0;
    for (uint32_t i = disk->inode_limit; i-- > 1;) {
        struct inode *inode = disk->inodes[i];
        if (inode != NULL && !inode->is_marked) {
            free_inode(disk, inode);
            inode = NULL;
        }
        if (inode == NULL) {
            forget_id(disk, i);
        } else if (i != ROOT) {
            disk->used_inodes++;
            disk->used_pages += inode->content.pages;
        }
    }
    separate_numbers(disk);
}
#endif
