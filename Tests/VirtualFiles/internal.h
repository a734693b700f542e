// What the files of this target share. All of it is guarded by `the_lock`.
#ifndef OSSSYNC_VIRTUAL_FILES_INTERNAL_H
#define OSSSYNC_VIRTUAL_FILES_INTERNAL_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "virtual_files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#pragma clang diagnostic ignored "-Wnullability-completeness"

// MARK: - Randomness (entropy.c)

struct generator {
    uint64_t state;
};
uint64_t generator_next(struct generator *generator);
/// Below `limit`, which is not 0.
uint64_t generator_below(struct generator *generator, uint64_t limit);
uint64_t mix(uint64_t value);
uint64_t mix_bytes(uint64_t seed, const void *bytes, size_t size);
void entropy_fill(void *buffer, size_t size);

// MARK: - Contents (pages.c, data.c)

enum { PAGE_SIZE = 4096, SECTOR_SIZE = 512, VERSIONS_KEPT = 6 };

/// Shared by files, versions and snapshots; written only while one holds it. NULL is a hole.
struct page {
    uint32_t references;
    bool is_hashed;
    uint64_t hash;
    unsigned char bytes[PAGE_SIZE];
};

/// What a page was before: the oldest in the list is what is durable.
struct version {
    struct version *older;
    struct page *page;
    /// The number of the truncation that ended this version, or 0 if a write did; then only the
    /// first `kept` bytes outlived it.
    uint32_t truncation;
    uint32_t kept;
    uint32_t depth;
};

struct slot {
    struct page *page;
    struct version *older;
};

/// Between two truncations a file only grows.
struct growth {
    int64_t from, to;
};

struct content {
    int64_t size;
    struct slot *slots;
    uint32_t slot_capacity;
    /// Pages that `used_bytes` counts.
    uint32_t pages;
    /// Indices of the slots with older versions.
    uint32_t *dirty;
    uint32_t dirty_count, dirty_capacity;
    /// The sizes since the last sync; the last one ends at `size`. Empty: the size is durable.
    struct growth *growths;
    uint32_t growth_count, growth_capacity;
};

struct page *page_make(void);
/// For preallocated space: reads as zeros, counts as used.
struct page *page_of_zeros(void);
void page_release(struct page *page);
uint64_t page_hash(struct page *page);

void content_copy(struct content *to, const struct content *from);
void content_free(struct content *content);
size_t content_read(const struct content *content, void *buffer, size_t size, int64_t offset);
/// The number of bytes written, less than `size` only when the disk is full.
size_t content_write(struct content *content, const void *buffer, size_t size, int64_t offset);
int content_resize(struct content *content, int64_t size);
int content_preallocate(struct content *content, int64_t offset, int64_t end, bool keeps_size);
int content_clone(struct content *to, const struct content *from);
/// Makes the data and the size durable.
void content_sync(struct content *content);
/// Chooses what is left after a power cut, which is then durable; the newest version of a piece
/// with a chance of `newest` in 4.
void content_cut(struct content *content, struct generator *generator, uint32_t newest);
uint64_t content_hash(const struct content *content);
uint64_t content_durability_hash(const struct content *content);

// MARK: - Names (names.c)

/// Shared by directories, the log and snapshots.
struct name {
    uint32_t references;
    uint32_t hash;
    uint32_t length;
    char text[];
};

struct name *name_make(const char *text, size_t length);
struct name *name_retain(struct name *name);
void name_release(struct name *name);
uint32_t name_hash(const char *text, size_t length);

/// The number of an inode in `struct disk`; 0 is none.
typedef uint32_t inode_id;
enum { ROOT = 1 };

struct entry {
    struct name *name;
    inode_id inode;
};

struct table {
    struct entry *entries;
    uint32_t count, capacity;
    /// Open addressing of positions in `entries` plus 1, 0xFFFFFFFF where one was removed; none for
    /// small tables.
    uint32_t *index;
    uint32_t index_size, index_used;
};

struct entry *table_find(const struct table *table, const char *text, size_t length, uint32_t hash);
struct entry *table_find_name(const struct table *table, const struct name *name);
/// Retains the name, which must be absent.
void table_add(struct table *table, struct name *name, inode_id inode);
void table_remove(struct table *table, struct entry *entry);
void table_copy(struct table *to, const struct table *from);
void table_free(struct table *table);

// MARK: - The disk (disk.c)

struct metadata {
    mode_t mode;
    uid_t uid;
    gid_t gid;
    struct timespec accessed, modified;
};

enum { ACL_LIMIT = 12 };

struct acl_entry {
    uint16_t tag, bits;
    uint32_t id;
};

/// An access control list; without entries there is none.
struct acl {
    uint32_t count;
    struct acl_entry entries[ACL_LIMIT];
};

struct inode {
    inode_id id;
    uint64_t number;
    struct metadata now, durable;
    /// Of a directory, what files get that are made in it. Durable at once.
    struct acl access, inherited;
    struct timespec changed, born;
    uint32_t links;
    /// Names in durable directories.
    uint32_t settled_links;
    /// Names in present and durable directories, changes in the log, open descriptions.
    uint32_t references;
    uint32_t opens;
    /// For one pass over the disk.
    bool is_marked;
    struct content content;
    /// Of a symbolic link.
    struct name *target;
    /// Of a directory: what is seen and what is durable.
    struct table present, settled;
    /// Of a directory: the one around it, or 0. Of a file: where it got its last name.
    inode_id parent;
    inode_id settled_parent;
};

enum change_kind { CHANGE_ADD, CHANGE_REMOVE, CHANGE_MOVE, CHANGE_EXCHANGE };

/// A change of names that is not durable yet.
struct change {
    enum change_kind kind;
    /// Durable for a power cut of that mode.
    bool in_journal, in_prefix;
    /// Marks of one pass over the log.
    uint8_t chosen;
    inode_id inode;
    inode_id directory;
    struct name *name;
    /// Of a move: the new place, and what was replaced there.
    inode_id new_directory;
    struct name *new_name;
    inode_id replaced;
};

struct disk {
    struct inode **inodes;
    uint32_t inode_capacity, inode_limit;
    /// Ids of freed inodes, to be used again.
    uint32_t *free_ids;
    uint32_t free_count, free_capacity;
    uint64_t next_number;
    /// Of inodes that no process sees any more.
    uint64_t *free_numbers;
    uint32_t free_number_count, free_number_capacity;
    int64_t used_pages;
    int64_t used_inodes;
    struct change *log;
    uint32_t log_count, log_capacity;
};

/// A directory that is seen in the place of another.
struct mount {
    inode_id covered, root;
    uint32_t number;
    bool is_other_device;
};
enum { MOUNT_LIMIT = 64 };

struct world {
    struct disk disk;
    /// The time, and what files are stamped with.
    struct timespec clock, now;
    int64_t time_step;
    int64_t capacity_pages, capacity_inodes;
    uint64_t directory_order, directory_reads;
    bool is_network, has_local_locks;
    /// Who makes the calls, and the last number that was given.
    uint32_t process, machine, last_process;
    bool reuses_inodes, fsync_names, is_frozen, has_clock, has_entropy, has_hook_enabled;
    virtual_files_hook hook;
    void *hook_context;
    struct virtual_files_counts counts;
    /// Counts reboots; a part of st_dev as the 64-bit calls report it.
    uint32_t boot;
    struct generator entropy;
    mode_t umask;
    uid_t user;
    gid_t group, other_group;
    /// Calls are refused as the modes and lists say.
    bool has_rights;
    struct mount mounts[MOUNT_LIMIT];
    uint32_t mount_count;
    /// Counts mounts for the life of the process: a number is given once.
    uint32_t last_mount;
};
extern struct world world;

static inline struct inode *inode_of(inode_id id) { return world.disk.inodes[id]; }

/// NULL when the disk has no more.
struct inode *inode_make(mode_t mode);
/// After its last name or its last open description went.
void inode_check_visible(struct inode *inode);
void inode_retain(inode_id id);
void inode_release(inode_id id);
void inode_touch(struct inode *inode);
static inline bool is_directory(const struct inode *inode) { return S_ISDIR(inode->now.mode); }
static inline bool is_file(const struct inode *inode) { return S_ISREG(inode->now.mode); }

// MARK: - Rights (rights.c)

// These give 0 or an error number, and 0 for edits of the world.
/// For reading (4), writing (2) and searching or running (1).
int refuse_access(struct inode *inode, int bits);
int refuse_owner(const struct inode *inode);
int refuse_group(const struct inode *inode, uid_t user, gid_t group);
/// For giving and taking names in a directory; `victim` is what loses its name, or NULL.
int refuse_names(struct inode *directory, const struct inode *victim);
/// Gives what was made with a mode the rights that new files have in its directory.
void inherit_rights(const struct inode *parent, struct inode *made);
void set_acl(struct inode *inode, const struct acl *acl);
/// After the mode was changed.
void acl_follow_mode(struct inode *inode);
bool is_valid_acl(struct acl *acl);

void disk_make(struct disk *disk);
void disk_copy(struct disk *to, const struct disk *from);
void disk_free(struct disk *disk);
/// Drops what no name leads to, and counts links and references again.
void disk_settle(struct disk *disk);

// MARK: - Mounts (mounts.c)

/// What is seen in a directory's place: mostly itself.
inode_id mount_over(inode_id covered);
/// The mount whose top this is; NULL if it is none's.
const struct mount *mount_at(inode_id root);
/// The mount that it is in; NULL for the disk itself.
const struct mount *mount_of(inode_id id);
/// Forgets mounts that a power cut left without their directories.
void mounts_prune(void);

/// Cut to what the file system can say.
struct timespec stamp_of(struct timespec time);

// MARK: - Changes of names (log.c, tree.c, power.c)

void log_change(
    enum change_kind kind, inode_id inode, inode_id directory, struct name *name,
    inode_id new_directory, struct name *new_name, inode_id replaced);
/// Makes the names in a directory durable.
void log_sync_directory(inode_id directory);
/// Makes the names of an inode durable.
void log_sync_names(inode_id inode);
void log_sync_all(void);
/// Does a change to the durable names, if it is possible on them.
void change_settle(const struct change *change);
void log_clear(struct disk *disk);

void power_cut(uint64_t seed, enum virtual_files_power_mode mode);
/// fsync or fdatasync.
void inode_sync(struct inode *inode, bool data_only);
void disk_sync(void);

// MARK: - Paths (walk.c, tree.c)

/// Where a path leads.
struct place {
    inode_id directory;
    /// The last component; empty if the path is the root, "." or "..".
    const char *name;
    size_t length;
    uint32_t hash;
    /// What is there, or 0.
    inode_id inode;
    bool has_trailing_slash;
    /// The name is longer than any can be.
    bool is_long;
    /// The last component is "." or "..", or there is none.
    bool is_special;
    /// Names of links that were followed last.
    char buffer[4096];
};

enum walk_flags {
    WALK_FOLLOW = 1,
    /// openat2's RESOLVE_NO_SYMLINKS and RESOLVE_BENEATH.
    WALK_NO_LINKS = 2,
    WALK_BENEATH = 4,
    /// The last component is a name to be given or taken: a slash after it is kept in mind only.
    WALK_PARENT = 8,
    /// For an open that creates: a slash after the last component is refused.
    WALK_CREATE = 16,
};

/// 0 or an error number; `start` is the directory for relative paths.
int walk(inode_id start, const char *path, int flags, struct place *place);

int tree_create(struct place *place, mode_t mode, const char *target, struct inode **made);
int tree_unlink(struct place *place, bool directory);
int tree_rename(struct place *from, struct place *to, bool exclusive);
/// Gives each of two names what the other had.
int tree_exchange(struct place *from, struct place *to);
int tree_link(struct inode *inode, struct place *place);

// MARK: - Descriptors (descriptors.c)

/// An open file description.
struct description {
    inode_id inode;
    int flags;
    int64_t offset;
    uint32_t references;
    /// LOCK_SH, LOCK_EX or 0.
    int lock;
    /// Who opened it, and where.
    uint32_t process, machine;
    /// Reads random bytes instead of a file.
    bool is_random;
    struct description *next_locked;
};

enum descriptor_state { DESCRIPTOR_REAL, DESCRIPTOR_RESERVED, DESCRIPTOR_OPEN, DESCRIPTOR_VOID };

enum { DESCRIPTOR_LIMIT = 65536 };
extern unsigned char descriptor_states[DESCRIPTOR_LIMIT];

/// Whether calls on this number are ours; needs no lock.
static inline bool is_virtual(int descriptor) {
    return descriptor >= 0 && descriptor < DESCRIPTOR_LIMIT
        && descriptor_states[descriptor] != DESCRIPTOR_REAL;
}
/// Whether a path given with a directory's descriptor is ours.
bool is_virtual_path(int directory, const char *path);
bool is_beneath_root(const char *path);

/// NULL if it is void or closed.
struct description *description_of(int descriptor);
/// A new descriptor, or -1 with errno; takes over one reference of the description.
int descriptor_make(struct description *description);
struct description *description_make(inode_id inode, int flags);
int descriptor_close(int descriptor);
int descriptor_lock(struct description *description, int operation);
void descriptors_void(void);
/// Those of one process; `body` is told of each description that the process wrote with.
void descriptors_void_of(uint32_t process, void (*body)(struct inode *, void *), void *context);
void descriptors_reclaim(void);
size_t descriptors_open(void);

// MARK: - Streams (streams.c)

void streams_void(void);
void streams_void_of(uint32_t process);
void streams_reclaim(void);
size_t streams_open(void);

// MARK: - Calls (control.c)

/// Begins a call on a virtual object: counts it, asks the hook, takes the lock.
///
/// False with errno if the call fails before it is done; the lock is not held then.
bool call_begin(
    const char *name, int descriptor, const char *path, const char *other_path, bool changes,
    int64_t bytes, int64_t *limit);
/// Releases the lock; -1 with errno if `code` is not 0.
int call_end(int code);
void lock_world(void);
void unlock_world(void);

// MARK: - The C library (real.c)

/// The next definition of a function after ours.
void *real_function(void **cache, const char *name);
#define REAL(name, type) \
    ({ static void *cache; (type)real_function(&cache, name); })

#endif
