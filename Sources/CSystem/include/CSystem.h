#ifndef OSSSYNC_CSYSTEM_H
#define OSSSYNC_CSYSTEM_H

// Variadic system calls in the fixed forms that Swift can call. Linux only; a Mac has no openat2 and takes the fallback.

// No header of the system with structures: Swift gives each of them to one module, and which one depends on the order in
// which a module's files are compiled. `struct stat` of this one is missing in files that import the C library alone.
#include <stddef.h>
#include <stdint.h>

/// The part of `struct stat` that decisions are made from.
struct osssync_status {
    uint32_t mode;
    uint32_t owner;
    uint32_t group;
    /// 1 if nobody may change it or take its name (chattr +i, +a); 0 where the kernel does not tell.
    uint32_t fixed;
    /// 1 for what the file system encrypts (fscrypt); 0 where the kernel does not tell.
    uint32_t encrypted;
    uint64_t links;
    int64_t size;
    uint64_t inode;
    uint64_t device;
    /// The mount that it is seen through; 0 where the kernel does not tell.
    uint64_t mount;
    int64_t modified_seconds, modified_nanoseconds;
    int64_t changed_seconds, changed_nanoseconds;
};
/// What is at `name`, or with an empty one `directory` itself. `flags` are those of fstatat.
int osssync_status_at(int directory, const char *name, int flags, struct osssync_status *status);

/// Lets threads share the C library's arenas, and makes their stacks small where addresses are limited (`ulimit -v`). To
/// be called before there are threads, by the program whose process it is.
void osssync_limit_thread_memory(void);

int osssync_openat(int directory, const char *path, int flags, unsigned int mode);
/// Opens beneath `directory`, refusing symbolic links and `..` escapes in every component; fails with ENOSYS where the
/// kernel has no openat2.
int osssync_openat2_beneath(int directory, const char *path, uint64_t flags, uint64_t mode);
/// Shares the blocks of `source` with `destination` (FICLONE); fails where the file system cannot.
int osssync_clone_file(int destination, int source);
/// renameat2 with RENAME_NOREPLACE; fails with EEXIST instead of replacing.
int osssync_renameat_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to);
/// renameat2 with RENAME_EXCHANGE: both names stay, each with what the other had; fails with ENOENT if either is missing.
int osssync_renameat_exchange(int fromDirectory, const char *from, int toDirectory, const char *to);
/// When the file was made, 0 for seconds and nanoseconds where the file system does not tell.
void osssync_birth_time(int directory, const char *path, int64_t *seconds, int64_t *nanoseconds);
/// Writes everything of the file system that holds `descriptor` to the disk, and waits for it.
int osssync_sync_file_system(int descriptor);
/// Reserves blocks for `size` bytes and makes that the size; where blocks cannot be reserved, sets the size alone.
int osssync_preallocate(int descriptor, int64_t size);
/// Sets the time of last modification; that of last access becomes now.
int osssync_set_modified(int descriptor, int64_t seconds, int64_t nanoseconds);
/// The same of a name in `directory`; of a link, its own time.
int osssync_set_modified_at(int directory, const char *name, int64_t seconds, int64_t nanoseconds);
/// The extended attribute `name` of an open file; -1 with errno, which is ENOTSUP where the system has none of Linux.
ptrdiff_t osssync_get_attribute(int descriptor, const char *name, void *buffer, size_t size);
int osssync_set_attribute(int descriptor, const char *name, const void *value, size_t size);
int osssync_remove_attribute(int descriptor, const char *name);
/// Opens the symbolic link `name` itself, not what it points at; fails with ENOTSUP or another error where that is not
/// possible.
int osssync_open_link(int directory, const char *name);
/// The text of a link that `osssync_open_link` opened, at most `size` bytes of it, without a NUL; -1 with errno.
ptrdiff_t osssync_read_link(int descriptor, char *buffer, size_t size);
/// 1 if `descriptor` is on a network or user-space file system, 0 if not, -1 with errno.
int osssync_is_network_file_system(int descriptor);
/// What the kernel shows instead of files, as `proc`; NULL for an ordinary file system, and where it cannot be asked.
const char *osssync_pseudo_file_system(int descriptor);
/// 1 if files keep their inode numbers from mount to mount, as far as is known of the file system; 0 if not, -1 with
/// errno.
int osssync_keeps_inode_numbers(int descriptor);
/// 1 for an encrypted directory whose key is not there, so that its names are others and nothing in it can be read.
int osssync_is_locked(int descriptor);
/// 1 if the time at which a file was made stays what it is; 0 if not, -1 with errno.
int osssync_keeps_birth_times(int descriptor);
/// 1 if the identifier of the file system belongs to the disk, wherever it is mounted; 0 if not, -1 with errno.
int osssync_keeps_file_system_identifier(int descriptor);
/// 1 if the file system keeps whole seconds of times, though it may show more for a while; 0 if not, -1 with errno.
int osssync_keeps_whole_seconds(int descriptor);

/// The umask of this process, which stays as it is; -1 if the system does not tell it.
int osssync_umask(void);
/// A queue of changes in watched directories, read without blocking; fails with ENOSYS where the system has none.
/// Takes a lock of the whole file, or gives it back, without waiting.
int osssync_lock_range(int descriptor, int type);

/// Nanoseconds since the machine's start, with those in which it slept.
int64_t osssync_boot_time(void);

int osssync_change_queue(void);
/// Watches one open directory, without those beneath it; returns the number of the watch, which is the same for one that
/// is watched already. With `each_write` 0, a file counts as changed only when a program that wrote it closes it, and attributes do not count.
int osssync_watch_directory(int queue, int directory, int each_write);
int osssync_unwatch(int queue, int watch);

/// What a report says; without any, that the content of a file was changed.
enum {
    /// The name is there now, or is gone, maybe by a rename.
    OSSSYNC_CHANGE_ADDED = 1,
    OSSSYNC_CHANGE_REMOVED = 2,
    OSSSYNC_CHANGE_IS_DIRECTORY = 4,
    /// The watched directory itself was moved or unmounted.
    OSSSYNC_CHANGE_MOVED = 8,
    /// The watch has ended.
    OSSSYNC_CHANGE_ENDED = 16,
    /// The queue was full, and reports are missing.
    OSSSYNC_CHANGE_OVERFLOW = 32,
    /// Permissions, owner, times, links or extended attributes changed, and not the content.
    OSSSYNC_CHANGE_ATTRIBUTES = 64,
};
struct osssync_change {
    int watch;
    int what;
    /// Ends with NUL; NULL for the directory itself.
    const char *name;
};
/// The report at `offset` of what was read from a queue; returns where the next one begins.
size_t osssync_change_at(const void *buffer, size_t offset, struct osssync_change *change);

/// The system's sentence for an error number, cut to fit and ended with NUL.
void osssync_error_text(int code, char *buffer, size_t size);

/// The bytes a TCP connection has sent so far, each counted once; -1 where the system does not say.
int64_t osssync_socket_bytes_sent(int socket);
/// Waits, at most two seconds, until the peer has what was written, then ends the connection with RST.
void osssync_socket_reset(int socket);

#endif
