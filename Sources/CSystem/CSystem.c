#define _GNU_SOURCE
#include "CSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <linux/fs.h>
#include <linux/fscrypt.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

int osssync_lock_range(int descriptor, int type) {
    struct flock range = {.l_type = (short)type, .l_whence = SEEK_SET};
    return fcntl(descriptor, F_SETLK, &range);
}

int64_t osssync_boot_time(void) {
    struct timespec now;
#if defined(__linux__)
    clock_gettime(CLOCK_BOOTTIME, &now);
#else
    clock_gettime(CLOCK_MONOTONIC, &now);
#endif
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int osssync_openat(int directory, const char *path, int flags, unsigned int mode) {
    return openat(directory, path, flags, mode);
}

int osssync_set_modified(int descriptor, int64_t seconds, int64_t nanoseconds) {
    struct timespec times[2] = {{0, UTIME_NOW}, {(time_t)seconds, (long)nanoseconds}};
    return futimens(descriptor, times);
}

int osssync_set_modified_at(int directory, const char *name, int64_t seconds, int64_t nanoseconds) {
    struct timespec times[2] = {{0, UTIME_NOW}, {(time_t)seconds, (long)nanoseconds}};
    return utimensat(directory, name, times, AT_SYMLINK_NOFOLLOW);
}

int osssync_open_link(int directory, const char *name) {
#if defined(__linux__)
    return openat(directory, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
#else
    return openat(directory, name, O_SYMLINK | O_CLOEXEC);
#endif
}

ptrdiff_t osssync_read_link(int descriptor, char *buffer, size_t size) {
#if defined(__linux__)
    return readlinkat(descriptor, "", buffer, size);
#else
    return freadlink(descriptor, buffer, size);
#endif
}

void osssync_error_text(int code, char *buffer, size_t size) {
    if (size == 0) return;
#if defined(__linux__)
    char storage[256];
    const char *text = strerror_r(code, storage, sizeof storage);
#else
    char text[256];
    if (strerror_r(code, text, sizeof text) != 0) text[0] = 0;
#endif
    strncpy(buffer, text, size - 1);
    buffer[size - 1] = 0;
}

static int plain_status(int directory, const char *name, int flags, struct osssync_status *status) {
    struct stat raw;
    int result = *name ? fstatat(directory, name, &raw, flags) : fstat(directory, &raw);
    if (result != 0) return result;
    memset(status, 0, sizeof *status);
    status->mode = raw.st_mode;
    status->owner = raw.st_uid;
    status->group = raw.st_gid;
    status->links = raw.st_nlink;
    status->size = raw.st_size;
    status->inode = raw.st_ino;
    status->device = (uint64_t)raw.st_dev;
#if defined(__linux__)
    struct timespec modified = raw.st_mtim, changed = raw.st_ctim;
#else
    struct timespec modified = raw.st_mtimespec, changed = raw.st_ctimespec;
#endif
    status->modified_seconds = modified.tv_sec;
    status->modified_nanoseconds = modified.tv_nsec;
    status->changed_seconds = changed.tv_sec;
    status->changed_nanoseconds = changed.tv_nsec;
    return 0;
}

#if defined(__linux__) && defined(STATX_MNT_ID)
int osssync_status_at(int directory, const char *name, int flags, struct osssync_status *status) {
    struct statx raw;
    // fstatat mounts nothing on demand either.
    int asked = flags | AT_NO_AUTOMOUNT | (*name ? 0 : AT_EMPTY_PATH);
    if (statx(directory, name, asked, STATX_BASIC_STATS | STATX_MNT_ID, &raw) != 0) {
        // A kernel or a sandbox of before there was this call.
        if (errno != ENOSYS && errno != EPERM) return -1;
        return plain_status(directory, name, flags, status);
    }
    status->mode = raw.stx_mode;
    status->owner = raw.stx_uid;
    status->group = raw.stx_gid;
    status->fixed = (raw.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND)) != 0;
    status->encrypted = (raw.stx_attributes & STATX_ATTR_ENCRYPTED) != 0;
    status->links = raw.stx_nlink;
    status->size = (int64_t)raw.stx_size;
    status->inode = raw.stx_ino;
    status->device = makedev(raw.stx_dev_major, raw.stx_dev_minor);
    status->mount = raw.stx_mask & STATX_MNT_ID ? raw.stx_mnt_id : 0;
    status->modified_seconds = raw.stx_mtime.tv_sec;
    status->modified_nanoseconds = raw.stx_mtime.tv_nsec;
    status->changed_seconds = raw.stx_ctime.tv_sec;
    status->changed_nanoseconds = raw.stx_ctime.tv_nsec;
    return 0;
}
#else
int osssync_status_at(int directory, const char *name, int flags, struct osssync_status *status) {
    return plain_status(directory, name, flags, status);
}
#endif

#if defined(__linux__)
int osssync_openat2_beneath(int directory, const char *path, uint64_t flags, uint64_t mode) {
    struct open_how how;
    memset(&how, 0, sizeof how);
    how.flags = flags;
    how.mode = mode;
    how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    return (int)syscall(SYS_openat2, directory, path, &how, sizeof how);
}

int osssync_clone_file(int destination, int source) {
    return ioctl(destination, FICLONE, source);
}

int osssync_renameat_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to) {
    return renameat2(fromDirectory, from, toDirectory, to, RENAME_NOREPLACE);
}

int osssync_renameat_exchange(int fromDirectory, const char *from, int toDirectory, const char *to) {
    return renameat2(fromDirectory, from, toDirectory, to, RENAME_EXCHANGE);
}

void osssync_birth_time(int directory, const char *path, int64_t *seconds, int64_t *nanoseconds) {
    struct statx status;
    *seconds = *nanoseconds = 0;
    int flags = AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH;
    if (statx(directory, path, flags, STATX_BTIME, &status) != 0) return;
    if (!(status.stx_mask & STATX_BTIME)) return;
    *seconds = status.stx_btime.tv_sec;
    *nanoseconds = status.stx_btime.tv_nsec;
}

int osssync_sync_file_system(int descriptor) {
    return syncfs(descriptor);
}

int osssync_preallocate(int descriptor, int64_t size) {
    if (size == 0) return 0;
    int result = fallocate(descriptor, 0, 0, size);
    if (result != 0 && (errno == EOPNOTSUPP || errno == ENOSYS)) result = ftruncate(descriptor, size);
    return result;
}

// The number is not in the kernel's headers.
#define LUSTRE 0x0BD00BD0u

int osssync_is_network_file_system(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    switch ((uint32_t)status.f_type) {
    case NFS_SUPER_MAGIC:
    case SMB_SUPER_MAGIC:
    case 0xFF534D42u: // CIFS
    case 0xFE534D42u: // SMB2
    case V9FS_MAGIC:
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
    case CODA_SUPER_MAGIC:
    case NCP_SUPER_MAGIC:
    case 0x65735546u: // FUSE, sshfs among them
    case 0x00C36400u: // Ceph
    case LUSTRE:
    case 0x01161970u: // GFS2
    case 0x47504653u: // GPFS, and CPFS by its own client
    case 0x19830326u: // BeeGFS
    case OCFS2_SUPER_MAGIC:
        return 1;
    default:
        return 0;
    }
}

// The kernel's own view of devices has the number of an ordinary tmpfs: the list of mounts names it.
static bool is_devtmpfs(int descriptor) {
    char path[64], line[4096];
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", descriptor);
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    long mount = -1;
    while (mount < 0 && fgets(line, sizeof line, file) != NULL) sscanf(line, "mnt_id: %ld", &mount);
    fclose(file);
    if (mount < 0 || (file = fopen("/proc/self/mountinfo", "re")) == NULL) return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) {
        long number = -1;
        const char *rest = strstr(line, " - ");
        found = sscanf(line, "%ld", &number) == 1 && number == mount && rest != NULL &&
                strncmp(rest + 3, "devtmpfs ", 9) == 0;
    }
    fclose(file);
    return found;
}

const char *osssync_pseudo_file_system(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return NULL;
    switch ((uint32_t)status.f_type) {
    case PROC_SUPER_MAGIC: return "proc";
    case SYSFS_MAGIC: return "sysfs";
    case CGROUP_SUPER_MAGIC: return "cgroup";
    case CGROUP2_SUPER_MAGIC: return "cgroup2";
    case DEVPTS_SUPER_MAGIC: return "devpts";
    case SECURITYFS_MAGIC: return "securityfs";
    case DEBUGFS_MAGIC: return "debugfs";
    case TRACEFS_MAGIC: return "tracefs";
    case BPF_FS_MAGIC: return "bpf";
    case 0x19800202u: return "mqueue";
    case PSTOREFS_MAGIC: return "pstore";
    case 0x62656570u: return "configfs";
    case 0x65735543u: return "fusectl";
    case HUGETLBFS_MAGIC: return "hugetlbfs";
    case BINFMTFS_MAGIC: return "binfmt_misc";
    case EFIVARFS_MAGIC: return "efivarfs";
    case AUTOFS_SUPER_MAGIC: return "autofs";
    case NSFS_MAGIC: return "nsfs";
    case 0x67596969u: return "rpc_pipefs";
    case SELINUX_MAGIC: return "selinuxfs";
    case SMACK_MAGIC: return "smackfs";
    case 0x6E667364u: return "nfsd";
    case TMPFS_MAGIC: return is_devtmpfs(descriptor) ? "devtmpfs" : NULL;
    default: return NULL;
    }
}

int osssync_keeps_inode_numbers(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    switch ((uint32_t)status.f_type) {
    case MSDOS_SUPER_MAGIC: // FAT
    case 0x2011BAB0u: // exFAT
    case 0x65735546u: // FUSE: sshfs, ntfs-3g, rclone mount
    case SMB_SUPER_MAGIC:
    case 0xFF534D42u: // CIFS
    case 0xFE534D42u: // SMB2
    case 0x7366746Eu: // NTFS3
    case 0x786F4256u: // shared folders of VirtualBox
    case LUSTRE: // after a client lost its cache
        return 0;
    default:
        return 1;
    }
}

int osssync_is_locked(int descriptor) {
    struct fscrypt_get_policy_ex_arg found = {.policy_size = sizeof found.policy};
    if (ioctl(descriptor, FS_IOC_GET_ENCRYPTION_POLICY_EX, &found) != 0) return 0;
    struct fscrypt_get_key_status_arg key = {0};
    if (found.policy.version == FSCRYPT_POLICY_V2) {
        key.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER;
        memcpy(key.key_spec.u.identifier, found.policy.v2.master_key_identifier, FSCRYPT_KEY_IDENTIFIER_SIZE);
    } else {
        key.key_spec.type = FSCRYPT_KEY_SPEC_TYPE_DESCRIPTOR;
        memcpy(key.key_spec.u.descriptor, found.policy.v1.master_key_descriptor, FSCRYPT_KEY_DESCRIPTOR_SIZE);
    }
    if (ioctl(descriptor, FS_IOC_GET_ENCRYPTION_KEY_STATUS, &key) != 0) return 0;
    return key.status != FSCRYPT_KEY_STATUS_PRESENT;
}

int osssync_keeps_birth_times(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    return (uint32_t)status.f_type != 0x794C7630u; // overlay: that of the copy made by the first change
}

int osssync_keeps_file_system_identifier(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    return (uint32_t)status.f_type == EXT4_SUPER_MAGIC; // from its UUID; of Btrfs, a snapshot that is put back has another
}

int osssync_keeps_whole_seconds(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    return (uint32_t)status.f_type == LUSTRE;
}

int osssync_umask(void) {
    FILE *file = fopen("/proc/self/status", "re");
    if (file == NULL) return -1;
    char line[256];
    unsigned int mask = 0;
    bool found = false;
    while (!found && fgets(line, sizeof line, file) != NULL) found = sscanf(line, "Umask: %o", &mask) == 1;
    fclose(file);
    return found ? (int)(mask & 0777) : -1;
}

ptrdiff_t osssync_get_attribute(int descriptor, const char *name, void *buffer, size_t size) {
    return fgetxattr(descriptor, name, buffer, size);
}

int osssync_set_attribute(int descriptor, const char *name, const void *value, size_t size) {
    return fsetxattr(descriptor, name, value, size, 0);
}

int osssync_remove_attribute(int descriptor, const char *name) {
    return fremovexattr(descriptor, name);
}

int osssync_change_queue(void) {
    return inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
}

int osssync_watch_directory(int queue, int directory, int each_write) {
    // The directory that is open, whatever its path leads to by now.
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", directory);
    return inotify_add_watch(queue, path,
                             IN_CREATE | IN_DELETE | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_MOVED_TO | IN_MOVE_SELF |
                                 IN_EXCL_UNLINK | IN_ONLYDIR | (each_write ? IN_MODIFY | IN_ATTRIB : 0));
}

int osssync_unwatch(int queue, int watch) {
    return inotify_rm_watch(queue, watch);
}

size_t osssync_change_at(const void *buffer, size_t offset, struct osssync_change *change) {
    const char *start = (const char *)buffer + offset;
    struct inotify_event event;
    memcpy(&event, start, sizeof event);
    change->watch = event.wd;
    change->name = event.len > 0 ? start + sizeof event : NULL;
    change->what = (event.mask & (IN_CREATE | IN_MOVED_TO) ? OSSSYNC_CHANGE_ADDED : 0) |
                   (event.mask & (IN_DELETE | IN_MOVED_FROM) ? OSSSYNC_CHANGE_REMOVED : 0) |
                   (event.mask & IN_ISDIR ? OSSSYNC_CHANGE_IS_DIRECTORY : 0) |
                   (event.mask & IN_ATTRIB ? OSSSYNC_CHANGE_ATTRIBUTES : 0) |
                   (event.mask & (IN_MOVE_SELF | IN_UNMOUNT) ? OSSSYNC_CHANGE_MOVED : 0) |
                   (event.mask & IN_IGNORED ? OSSSYNC_CHANGE_ENDED : 0) |
                   (event.mask & IN_Q_OVERFLOW ? OSSSYNC_CHANGE_OVERFLOW : 0);
    return offset + sizeof event + event.len;
}
#else
ptrdiff_t osssync_get_attribute(int descriptor, const char *name, void *buffer, size_t size) {
    (void)descriptor; (void)name; (void)buffer; (void)size;
    errno = ENOTSUP;
    return -1;
}

int osssync_set_attribute(int descriptor, const char *name, const void *value, size_t size) {
    (void)descriptor; (void)name; (void)value; (void)size;
    errno = ENOTSUP;
    return -1;
}

int osssync_remove_attribute(int descriptor, const char *name) {
    (void)descriptor; (void)name;
    errno = ENOTSUP;
    return -1;
}

int osssync_change_queue(void) {
    errno = ENOSYS;
    return -1;
}

int osssync_watch_directory(int queue, int directory, int each_write) {
    (void)queue; (void)directory; (void)each_write;
    errno = ENOSYS;
    return -1;
}

int osssync_unwatch(int queue, int watch) {
    (void)queue; (void)watch;
    errno = ENOSYS;
    return -1;
}

size_t osssync_change_at(const void *buffer, size_t offset, struct osssync_change *change) {
    (void)buffer;
    *change = (struct osssync_change){0, 0, NULL};
    return offset;
}

int osssync_openat2_beneath(int directory, const char *path, uint64_t flags, uint64_t mode) {
    (void)directory; (void)path; (void)flags; (void)mode;
    errno = ENOSYS;
    return -1;
}

int osssync_clone_file(int destination, int source) {
    (void)destination; (void)source;
    errno = ENOTSUP;
    return -1;
}

int osssync_renameat_exclusive(int fromDirectory, const char *from, int toDirectory, const char *to) {
    return renameatx_np(fromDirectory, from, toDirectory, to, RENAME_EXCL);
}

int osssync_renameat_exchange(int fromDirectory, const char *from, int toDirectory, const char *to) {
    return renameatx_np(fromDirectory, from, toDirectory, to, RENAME_SWAP);
}

void osssync_birth_time(int directory, const char *path, int64_t *seconds, int64_t *nanoseconds) {
    struct stat status;
    *seconds = *nanoseconds = 0;
    if (*path ? fstatat(directory, path, &status, AT_SYMLINK_NOFOLLOW) : fstat(directory, &status)) return;
    *seconds = status.st_birthtimespec.tv_sec;
    *nanoseconds = status.st_birthtimespec.tv_nsec;
}

int osssync_sync_file_system(int descriptor) {
    return fsync_volume_np(descriptor, SYNC_VOLUME_FULLSYNC | SYNC_VOLUME_WAIT);
}

int osssync_preallocate(int descriptor, int64_t size) {
    fstore_t reservation = {F_ALLOCATEALL, F_PEOFPOSMODE, 0, size, 0};
    if (size > 0 && fcntl(descriptor, F_PREALLOCATE, &reservation) != 0 && errno == ENOSPC) return -1;
    return ftruncate(descriptor, size);
}

int osssync_is_network_file_system(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    return (status.f_flags & MNT_LOCAL) == 0;
}

const char *osssync_pseudo_file_system(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return NULL;
    static const char *const kinds[] = {"devfs", "autofs"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(status.f_fstypename, kinds[i]) == 0) return kinds[i];
    }
    return NULL;
}

int osssync_keeps_inode_numbers(int descriptor) {
    struct statfs status;
    if (fstatfs(descriptor, &status) != 0) return -1;
    static const char *const without[] = {"msdos", "exfat", "smbfs", "ntfs", "macfuse", "osxfuse"};
    for (size_t i = 0; i < sizeof without / sizeof *without; i++) {
        if (strcmp(status.f_fstypename, without[i]) == 0) return 0;
    }
    return 1;
}

int osssync_is_locked(int descriptor) {
    (void)descriptor;
    return 0;
}

int osssync_keeps_birth_times(int descriptor) {
    (void)descriptor;
    return 1;
}

int osssync_keeps_file_system_identifier(int descriptor) {
    (void)descriptor;
    return 0;
}

int osssync_keeps_whole_seconds(int descriptor) {
    (void)descriptor;
    return 0;
}

int osssync_umask(void) { return -1; }
#endif
