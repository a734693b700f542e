#if defined(__linux__)
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t the_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
/// The hook's own calls are not shown to it.
static _Thread_local bool is_in_hook;

void lock_world(void) { pthread_mutex_lock(&the_lock); }
void unlock_world(void) { pthread_mutex_unlock(&the_lock); }

static void set_defaults(void) {
    world.clock = world.now = (struct timespec){0, 0};
    world.time_step = 1;
    world.mount_count = 0;
    world.capacity_pages = world.capacity_inodes = -1;
    world.directory_order = world.directory_reads = 0;
    world.reuses_inodes = world.fsync_names = world.is_frozen = false;
    world.has_clock = world.has_entropy = false;
    world.is_network = world.has_local_locks = false;
    world.process = world.machine = 0;
    world.has_rights = false;
    world.group = world.other_group = getegid();
    world.has_hook_enabled = true;
    world.hook = NULL;
    world.hook_context = NULL;
    memset(&world.counts, 0, sizeof world.counts);
    world.boot++;
}

__attribute__((constructor)) static void begin(void) {
    world.user = geteuid();
    world.umask = REAL("umask", mode_t (*)(mode_t))(022);
    REAL("umask", mode_t (*)(mode_t))(world.umask);
    set_defaults();
    disk_make(&world.disk);
}

bool call_begin(
    const char *name, int descriptor, const char *path, const char *other_path, bool changes,
    int64_t bytes, int64_t *limit
) {
    lock_world();
    if (world.is_frozen) {
        unlock_world();
        errno = EIO;
        return false;
    }
    if (!world.has_hook_enabled || is_in_hook) return true;
    world.counts.calls++;
    if (changes) world.counts.changes++;
    if (world.hook == NULL) return true;
    virtual_files_hook hook = world.hook;
    void *context = world.hook_context;
    struct virtual_files_call call = {
        .name = name, .path = path, .other_path = other_path,
        .descriptor = path != NULL && path[0] == '/' ? -1 : descriptor,
        .changes = changes, .bytes = bytes, .number = world.counts.calls,
    };
    unlock_world();
    is_in_hook = true;
    int answer = hook(context, &call);
    is_in_hook = false;
    if (answer > 0) {
        errno = answer;
        return false;
    }
    lock_world();
    if (world.is_frozen) {
        unlock_world();
        errno = EIO;
        return false;
    }
    if (answer < 0 && limit != NULL && *limit > -(int64_t)answer) *limit = -(int64_t)answer;
    return true;
}

int call_end(int code) {
    unlock_world();
    if (code == 0) return 0;
    errno = code;
    return -1;
}

/// Forgets which files are open; the unlinked ones go.
static void drop_opens(void) {
    struct disk *disk = &world.disk;
    for (uint32_t i = 1; i < disk->inode_limit; i++) {
        struct inode *inode = disk->inodes[i];
        if (inode == NULL || inode->opens == 0) continue;
        inode->references -= inode->opens - 1;
        inode->opens = 0;
        inode_check_visible(inode);
        inode_release(inode->id);
    }
}

static void void_descriptors(void) {
    descriptors_void();
    streams_void();
    world.boot++;
}

void virtual_files_reset(void) {
    lock_world();
    void_descriptors();
    disk_free(&world.disk);
    set_defaults();
    disk_make(&world.disk);
    unlock_world();
}

void virtual_files_set_time(int64_t seconds, int64_t nanoseconds) {
    lock_world();
    world.clock = (struct timespec){(time_t)seconds, (long)nanoseconds};
    world.now = stamp_of(world.clock);
    unlock_world();
}

struct timespec stamp_of(struct timespec time) {
    if (world.time_step <= 1) return time;
    if (world.time_step < 1000000000) {
        time.tv_nsec -= time.tv_nsec % (long)world.time_step;
        return time;
    }
    int64_t step = world.time_step / 1000000000, over = time.tv_sec % step;
    time.tv_nsec = 0;
    time.tv_sec -= (time_t)(over < 0 ? over + step : over);
    return time;
}

void virtual_files_set_time_step(int64_t nanoseconds) {
    lock_world();
    world.time_step = nanoseconds;
    world.now = stamp_of(world.clock);
    unlock_world();
}

void virtual_files_set_capacity(int64_t bytes, int64_t inodes) {
    lock_world();
    world.capacity_pages = bytes < 0 ? -1 : bytes / PAGE_SIZE;
    world.capacity_inodes = inodes < 0 ? -1 : inodes;
    unlock_world();
}

void virtual_files_set_directory_order(uint64_t seed) {
    lock_world();
    world.directory_order = seed;
    world.directory_reads = 0;
    unlock_world();
}

void virtual_files_set_inode_reuse(bool reuse) { world.reuses_inodes = reuse; }
void virtual_files_set_fsync_names(bool names) { world.fsync_names = names; }
void virtual_files_set_clock(bool isVirtual) { world.has_clock = isVirtual; }

void virtual_files_set_entropy(uint64_t seed) {
    lock_world();
    world.entropy.state = mix(seed);
    world.has_entropy = true;
    unlock_world();
}

void virtual_files_clear_entropy(void) { world.has_entropy = false; }

void virtual_files_set_hook(virtual_files_hook hook, void *context) {
    lock_world();
    world.hook = hook;
    world.hook_context = context;
    unlock_world();
}

void virtual_files_set_hook_enabled(bool enabled) { world.has_hook_enabled = enabled; }

struct virtual_files_counts virtual_files_get_counts(void) { return world.counts; }

size_t virtual_files_open_descriptors(void) { return descriptors_open() + streams_open(); }

void virtual_files_freeze(void) {
    lock_world();
    world.is_frozen = true;
    unlock_world();
}

bool virtual_files_is_frozen(void) { return world.is_frozen; }

void virtual_files_reboot(
    enum virtual_files_reboot_kind kind, uint64_t seed, enum virtual_files_power_mode mode
) {
    lock_world();
    void_descriptors();
    drop_opens();
    if (kind == VIRTUAL_FILES_POWER) {
        power_cut(seed, mode);
        mounts_prune();
    }
    world.is_frozen = false;
    unlock_world();
}

void virtual_files_reclaim(void) {
    lock_world();
    descriptors_reclaim();
    streams_reclaim();
    unlock_world();
}

// MARK: - Copies

struct virtual_files_snapshot {
    struct disk disk;
};

struct virtual_files_snapshot *virtual_files_take_snapshot(void) {
    struct virtual_files_snapshot *snapshot = malloc(sizeof *snapshot);
    if (snapshot == NULL) abort();
    lock_world();
    disk_copy(&snapshot->disk, &world.disk);
    unlock_world();
    return snapshot;
}

void virtual_files_restore(const struct virtual_files_snapshot *snapshot) {
    lock_world();
    void_descriptors();
    disk_free(&world.disk);
    disk_copy(&world.disk, &snapshot->disk);
    drop_opens();
    world.is_frozen = false;
    unlock_world();
}

void virtual_files_free_snapshot(struct virtual_files_snapshot *snapshot) {
    lock_world();
    disk_free(&snapshot->disk);
    unlock_world();
    free(snapshot);
}

static uint64_t metadata_hash(const struct metadata *metadata) {
    uint64_t hash = mix(metadata->mode ^ ((uint64_t)metadata->uid << 32));
    hash = mix(hash ^ metadata->gid ^ ((uint64_t)metadata->modified.tv_nsec << 32));
    return mix(hash ^ (uint64_t)metadata->modified.tv_sec);
}

static uint64_t inode_hash(const struct inode *inode, bool durability);

/// The order of names in a directory does not count.
static uint64_t table_hash(const struct table *table, bool visible, bool durability) {
    uint64_t sum = table->count;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct entry *entry = &table->entries[i];
        uint64_t hash = mix_bytes(2, entry->name->text, entry->name->length);
        const struct inode *inode = inode_of(entry->inode);
        sum += mix(hash ^ (visible ? inode_hash(inode, durability) : inode->number));
    }
    return mix(sum);
}

static uint64_t inode_hash(const struct inode *inode, bool durability) {
    uint64_t hash = mix(inode->number) ^ metadata_hash(&inode->now);
    if (is_file(inode)) hash = mix(hash ^ content_hash(&inode->content));
    if (is_directory(inode)) hash = mix(hash ^ table_hash(&inode->present, true, durability));
    if (inode->target != NULL) hash ^= mix_bytes(3, inode->target->text, inode->target->length);
    if (!durability) return hash;
    hash = mix(hash ^ metadata_hash(&inode->durable));
    if (is_file(inode)) hash = mix(hash ^ content_durability_hash(&inode->content));
    if (is_directory(inode)) hash = mix(hash ^ table_hash(&inode->settled, false, true));
    return hash;
}

uint64_t virtual_files_hash(void) {
    lock_world();
    uint64_t hash = inode_hash(inode_of(ROOT), false);
    unlock_world();
    return hash;
}

uint64_t virtual_files_durability_hash(void) {
    lock_world();
    uint64_t hash = inode_hash(inode_of(ROOT), true);
    for (uint32_t i = 0; i < world.disk.log_count; i++) {
        const struct change *change = &world.disk.log[i];
        hash = mix(hash ^ change->kind ^ mix_bytes(4, change->name->text, change->name->length));
        if (change->new_name != NULL) {
            hash = mix(hash ^ mix_bytes(5, change->new_name->text, change->new_name->length));
        }
    }
    unlock_world();
    return hash;
}

int64_t virtual_files_used_bytes(void) { return world.disk.used_pages * PAGE_SIZE; }
int64_t virtual_files_used_inodes(void) { return world.disk.used_inodes; }

/// A name of a file in a directory.
static const struct entry *name_in(inode_id directory, inode_id id) {
    const struct inode *inode = directory == 0 ? NULL : inode_of(directory);
    if (inode == NULL) return NULL;
    for (uint32_t i = 0; i < inode->present.count; i++) {
        if (inode->present.entries[i].inode == id) return &inode->present.entries[i];
    }
    return NULL;
}

/// A name of a file anywhere, and its directory.
static const struct entry *any_name(inode_id id, inode_id *directory) {
    *directory = inode_of(id)->parent;
    const struct entry *found = name_in(*directory, id);
    // It can have lost its last name and kept an older one.
    for (uint32_t i = 1; i < world.disk.inode_limit && found == NULL; i++) {
        *directory = i;
        found = name_in(i, id);
    }
    return found;
}

size_t virtual_files_path(int descriptor, char *buffer, size_t size) {
    char reversed[4096];
    size_t start = sizeof reversed;
    lock_world();
    struct description *description = description_of(descriptor);
    inode_id id = description == NULL ? 0 : description->inode;
    while (id != 0 && id != ROOT) {
        const struct mount *mount = mount_at(id);
        if (mount != NULL) id = mount->covered;
        inode_id directory;
        const struct entry *found = any_name(id, &directory);
        if (found == NULL || start < found->name->length + 1) {
            id = 0;
            break;
        }
        start -= found->name->length;
        memcpy(reversed + start, found->name->text, found->name->length);
        reversed[--start] = '/';
        id = directory;
    }
    unlock_world();
    const size_t root = sizeof VIRTUAL_FILES_ROOT - 1;
    size_t length = id == 0 ? 0 : root + sizeof reversed - start;
    if (length == 0 || length >= size) return 0;
    memcpy(buffer, VIRTUAL_FILES_ROOT, root);
    memcpy(buffer + root, reversed + start, sizeof reversed - start);
    buffer[length] = 0;
    return length;
}
#endif
