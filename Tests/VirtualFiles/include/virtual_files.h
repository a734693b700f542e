#ifndef OSSSYNC_VIRTUAL_FILES_H
#define OSSSYNC_VIRTUAL_FILES_H

// A POSIX file system in memory, beneath the path /virtual, whose power can be cut.
//
// An executable that links this target calls it without knowing: the C library's functions on files
// are defined here, hand what is not virtual to the C library, and are found first by the dynamic
// linker, for libsqlite3.so too. Linux only; elsewhere the target is empty and nothing is virtual.
//
// One disk per process. Everything is deterministic: the same calls, seeds and times give the same
// answers, inode numbers and hash. Calls on virtual objects are made one at a time by a lock; the
// hook is called without it and may itself use virtual files.

// What differs from a real file system, on purpose:
// - A shared mapping is memory of its own, filled from the file and never written back; it is there
//   for SQLite's index of its log, which is of no worth after a crash.
// - stat64, fstat64, lstat64 and fstatat64, which libsqlite3.so calls, give another st_dev after
//   each reboot: SQLite keeps tables by device and inode for the life of a process, and what a dead
//   one left there must not meet the next one. stat, fstat, lstat and fstatat give one device.
// - Nothing is refused for its mode, as to the superuser, before `virtual_files_set_rights`; edits of
//   the world (`virtual_files_set_hook_enabled`) never are.
// - A flipped bit of a disk changes no time (`virtual_files_damage`).
// - Descriptors are numbers of 256 and more; functions that are not intercepted fail on them with
//   EBADF. fopen and realpath are not intercepted.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// The mount point; every path that begins with it, and every descriptor that such an open gave, is
/// virtual. Relative paths with AT_FDCWD are real.
#define VIRTUAL_FILES_ROOT "/virtual"

// MARK: - The world

/// An empty disk; no hook, no limits, time 0, not frozen, entropy and clock real again, counters 0.
/// Descriptors that are open become void, as at a reboot. Snapshots stay valid.
void virtual_files_reset(void);

/// The time that files are stamped with from now on; see also `virtual_files_set_clock`.
void virtual_files_set_time(int64_t seconds, int64_t nanoseconds);

/// Times of files are multiples of this, as on other file systems: 1 (after reset), 2,000,000,000.
void virtual_files_set_time_step(int64_t nanoseconds);

/// Shows the directory `source` in the place of the directory `target`, as a mount point of its
/// own: with another number of mount (statx), with another device if wanted. Names cannot be moved
/// or linked between it and the rest (EXDEV), and it cannot be removed (EBUSY). While it is mounted,
/// it is the mount also where it is reached by its first path. False if a path is no directory.
///
/// Mounts outlive reboots, as long as both directories do.
bool virtual_files_mount(
    const char *_Nonnull source, const char *_Nonnull target, bool is_other_device);
/// False if nothing is mounted there.
bool virtual_files_unmount(const char *_Nonnull target);

/// The size of the disk; writes and new names beyond it fail with ENOSPC. Negative: no limit.
void virtual_files_set_capacity(int64_t bytes, int64_t inodes);

/// 0: directories are read in the order in which names came. Else: in an order of this seed,
/// another for each directory and each time that it is read.
void virtual_files_set_directory_order(uint64_t seed);

/// True: a new file gets the lowest inode number that is free, as on ext4. False (after reset): a
/// number that was never used.
void virtual_files_set_inode_reuse(bool reuse);

/// True: fsync of a file makes durable the names it was given since, as on ext4. False (after
/// reset): content and metadata only.
void virtual_files_set_fsync_names(bool names);

/// True: clock_gettime(CLOCK_REALTIME), gettimeofday and time answer the time of
/// `virtual_files_set_time` to the whole process, and sleep and usleep return at once (they do so
/// also while frozen: SQLite waits up to ten seconds when its locks fail). CLOCK_MONOTONIC and
/// nanosleep are always real.
void virtual_files_set_clock(bool isVirtual);

/// Makes getrandom, getentropy, arc4random… and reads of /dev/urandom answer bytes made of the
/// seed, to the whole process: Swift's SystemRandomNumberGenerator and SQLite's seed come from
/// there. SQLite keeps its own generator: call sqlite3_randomness(0, NULL) after this to have it
/// seeded again. Swift's Hasher is seeded before main: set SWIFT_DETERMINISTIC_HASHING=1 in the
/// environment.
void virtual_files_set_entropy(uint64_t seed);
/// Real entropy again.
void virtual_files_clear_entropy(void);

// MARK: - Rights

/// From now on the process's own user, who is also in another group, is an ordinary one: calls are
/// refused as modes, access control lists and sticky directories say. Before, and after reset,
/// nothing is refused.
void virtual_files_set_rights(uint32_t other_group);
void virtual_files_set_umask(uint32_t mask);
/// Gives a file or directory an access control list, or one for what is made in it, in the form of
/// the attributes `system.posix_acl_access` and `system.posix_acl_default`.
bool virtual_files_set_list(
    const char *_Nonnull path, bool is_inherited, const uint8_t *_Nonnull list, size_t size);
bool virtual_files_has_list(const char *_Nonnull path);
/// What a user of one group may do with the file itself: 4 for reading, 2 for writing, 1 for running
/// it or for finding names in it. 0 if it is not there.
uint32_t virtual_files_granted(const char *_Nonnull path, uint32_t user, uint32_t group);
/// The same of an ordinary file (mode 0666 before the mask) that the user would make in a directory.
uint32_t virtual_files_granted_new(
    const char *_Nonnull directory, uint32_t user, uint32_t group);

// MARK: - Damage

/// Flips bits of one byte of a file, durably and behind its times. False if there is no such byte.
bool virtual_files_damage(const char *_Nonnull path, int64_t offset, uint8_t flipped);

// MARK: - Watching and disturbing calls

struct virtual_files_call {
    /// The function as POSIX names it ("openat" for open too, "pread", "fstatat", "renameat2").
    const char *_Nonnull name;
    /// As it was passed, relative to `directory`; NULL for calls on a descriptor.
    const char *_Nullable path;
    /// The second path of rename and link, the target of symlink; else NULL.
    const char *_Nullable other_path;
    /// The descriptor, or the directory that `path` is relative to; -1 if `path` is absolute.
    int descriptor;
    /// Whether the call can change what the disk holds (an open with O_CREAT or O_TRUNC can), or
    /// what it holds durably (fsync).
    bool changes;
    /// How many bytes a read or write asks for, the new size of a truncation or preallocation.
    int64_t bytes;
    /// Counts calls from 1 since reset, as `virtual_files_counts.calls` does.
    uint64_t number;
};

/// 0: go on. A positive error number: fail with it, nothing done. -n: a read or write moves at most
/// n bytes; other calls go on.
typedef int (*virtual_files_hook)(
    void *_Nullable context, const struct virtual_files_call *_Nonnull call);

/// Called before each call on a virtual object, unless frozen. It may freeze: the call then fails.
void virtual_files_set_hook(virtual_files_hook _Nullable hook, void *_Nullable context);
/// False around the world's own edits; they are not counted either. True after reset.
void virtual_files_set_hook_enabled(bool enabled);

struct virtual_files_counts {
    uint64_t calls;
    /// Those with `changes`.
    uint64_t changes;
    uint64_t fsyncs;
    uint64_t fdatasyncs;
    uint64_t syncfs;
    uint64_t bytes_read;
    uint64_t bytes_written;
};
struct virtual_files_counts virtual_files_get_counts(void);

/// The path at which a virtual descriptor's file is now, in `buffer`, and its length; 0 if it has
/// no name any more or is not virtual.
size_t virtual_files_path(int descriptor, char *_Nonnull buffer, size_t size);

/// The number of descriptors (and directory streams) that are open, but void ones.
size_t virtual_files_open_descriptors(void);

// MARK: - Crashes

/// From now on every call on a virtual object fails with EIO and changes nothing: the process is
/// dead, although its code still runs. (close and closedir release their number.)
void virtual_files_freeze(void);
bool virtual_files_is_frozen(void);

enum virtual_files_reboot_kind {
    /// The process died: everything it wrote is there. What was not synced can still be lost by a
    /// later power cut.
    VIRTUAL_FILES_PROCESS = 0,
    /// The power failed: a choice, made by the seed, of what was not synced is lost.
    VIRTUAL_FILES_POWER = 1,
};

/// What may happen to changes of names that were not synced. In each mode a rename happened wholly
/// or not at all, and no file loses its last name by losing half of one.
enum virtual_files_power_mode {
    /// As a journal: a prefix of all changes. fsync of a directory (with fsync_names, of any file)
    /// makes durable all changes before it.
    VIRTUAL_FILES_JOURNAL = 0,
    /// A prefix of the changes of each directory.
    VIRTUAL_FILES_DIRECTORY_PREFIX = 1,
    /// Any subset, but that changes of one name keep their order.
    VIRTUAL_FILES_ANY_SUBSET = 2,
};

/// Drops descriptors, locks, unlinked files that were open, and, for a power cut, a legal choice of
/// what was not synced; then unfreezes. Descriptors that the dead process still holds become void:
/// calls on them fail with EBADF, and their numbers are not given out again before the process
/// closed them or `virtual_files_reclaim` was called, so that a late `deinit` hits nobody.
///
/// Of contents, each 4 KiB piece becomes, independently, one of the versions it had since the last
/// fsync, or a mixture of two by sectors of 512 bytes; the size any that it had or passed; mode and
/// times those of the last fsync or the present ones.
void virtual_files_reboot(
    enum virtual_files_reboot_kind kind, uint64_t seed, enum virtual_files_power_mode mode);

/// Forgets void descriptors: nobody holds them any more.
void virtual_files_reclaim(void);

// MARK: - Several processes and machines

/// A number for a process, which no other one gets.
uint32_t virtual_files_begin_process(void);
/// From now on calls are those of this process on this machine, whose wall clock shows that time;
/// files are stamped with the time of `virtual_files_set_time` as before. Process 0 is the world.
/// Calls of a dead one fail as after `virtual_files_freeze`.
void virtual_files_set_process(
    uint32_t process, uint32_t machine, bool is_dead, int64_t seconds, int64_t nanoseconds);
/// Drops what a process has open. If its machine lost its memory, what the process wrote to files
/// that it had open is lost as far as it was not synced, by a choice of the seed; names are not.
void virtual_files_end_process(uint32_t process, bool loses_memory, uint64_t seed);
/// The disk is that of a file server: closing a file that was written makes its content durable.
/// With `has_local_locks`, locks of other machines are not seen.
void virtual_files_set_network(bool is_network, bool has_local_locks);

// MARK: - Copies

struct virtual_files_snapshot;

/// A copy of the disk: what a process sees and what is durable; contents are shared until written.
/// Descriptors, limits, hook and time are no part of it.
struct virtual_files_snapshot *_Nonnull virtual_files_take_snapshot(void);
/// Makes the disk what it was; open descriptors become void, and the disk is no longer frozen.
void virtual_files_restore(const struct virtual_files_snapshot *_Nonnull snapshot);
void virtual_files_free_snapshot(struct virtual_files_snapshot *_Nonnull snapshot);

/// A number made of everything a process can see: names, types, contents, modes, times, inodes.
uint64_t virtual_files_hash(void);
/// Of that and of what is durable and what is not.
uint64_t virtual_files_durability_hash(void);

/// Bytes that contents take, as capacity counts them, and inodes but the root.
int64_t virtual_files_used_bytes(void);
int64_t virtual_files_used_inodes(void);

#ifdef __cplusplus
}
#endif

#endif
