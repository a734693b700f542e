// Numbers of descriptors, which the kernel keeps free for us, and what they mean.
#if defined(__linux__)
#include "internal.h"

#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

unsigned char descriptor_states[DESCRIPTOR_LIMIT];
static struct description *descriptions[DESCRIPTOR_LIMIT];

/// Numbers that were reserved, in the order in which they came.
static int reserved[DESCRIPTOR_LIMIT];
static int reserved_count;
/// Below this position all are in use.
static int first_free;
static int base = -1;
static struct description *locked;
static size_t open_count;

/// One more number from the kernel. A descriptor with O_PATH refuses whatever is not intercepted.
static int reserve(void) {
    if (base < 0) {
        base = REAL("open64", int (*)(const char *, int, ...))("/dev/null", O_PATH | O_CLOEXEC);
    }
    int number = REAL("fcntl64", int (*)(int, int, ...))(base, F_DUPFD_CLOEXEC, 256);
    if (number < 0) return -1;
    if (number >= DESCRIPTOR_LIMIT) {
        REAL("close", int (*)(int))(number);
        errno = EMFILE;
        return -1;
    }
    return number;
}

struct description *description_of(int descriptor) {
    if (!is_virtual(descriptor)) return NULL;
    return descriptor_states[descriptor] == DESCRIPTOR_OPEN ? descriptions[descriptor] : NULL;
}

struct description *description_make(inode_id inode, int flags) {
    struct description *description = calloc(1, sizeof *description);
    if (description == NULL) abort();
    description->inode = inode;
    description->flags = flags;
    description->process = world.process;
    description->machine = world.machine;
    if (inode != 0) {
        inode_of(inode)->opens++;
        inode_retain(inode);
    }
    return description;
}

static void unlock(struct description *description) {
    if (description->lock == 0) return;
    description->lock = 0;
    struct description **link = &locked;
    while (*link != description) link = &(*link)->next_locked;
    *link = description->next_locked;
}

static void description_release(struct description *description) {
    if (--description->references > 0) return;
    unlock(description);
    if (description->inode != 0) {
        struct inode *inode = inode_of(description->inode);
        inode->opens--;
        inode_check_visible(inode);
        inode_release(inode->id);
    }
    free(description);
}

int descriptor_make(struct description *description) {
    description->references++;
    while (first_free < reserved_count
        && descriptor_states[reserved[first_free]] != DESCRIPTOR_RESERVED) first_free++;
    if (first_free == reserved_count) {
        int number = reserve();
        if (number < 0) {
            int code = errno;
            description_release(description);
            errno = code;
            return -1;
        }
        reserved[reserved_count++] = number;
    }
    int number = reserved[first_free++];
    descriptions[number] = description;
    descriptor_states[number] = DESCRIPTOR_OPEN;
    open_count++;
    return number;
}

static void set_free(int number) {
    descriptor_states[number] = DESCRIPTOR_RESERVED;
    descriptions[number] = NULL;
    // Few are open at once: looking from the start again is cheap.
    first_free = 0;
}

static bool is_written(const struct description *description) {
    return description->inode != 0 && (description->flags & O_ACCMODE) != O_RDONLY
        && is_file(inode_of(description->inode));
}

int descriptor_close(int descriptor) {
    struct description *description = description_of(descriptor);
    if (descriptor_states[descriptor] == DESCRIPTOR_VOID) set_free(descriptor);
    if (description == NULL) return EBADF;
    set_free(descriptor);
    open_count--;
    if (world.is_network && is_written(description)) {
        content_sync(&inode_of(description->inode)->content);
    }
    description_release(description);
    return 0;
}

int descriptor_lock(struct description *description, int operation) {
    int wanted = operation & ~LOCK_NB;
    if (wanted == LOCK_UN) {
        unlock(description);
        return 0;
    }
    if (wanted != LOCK_SH && wanted != LOCK_EX) return EINVAL;
    for (struct description *other = locked; other != NULL; other = other->next_locked) {
        if (other == description || other->inode != description->inode) continue;
        if (world.has_local_locks && other->machine != description->machine) continue;
        // Nobody is there who could release it while we wait.
        if (wanted == LOCK_EX || other->lock == LOCK_EX) {
            return operation & LOCK_NB ? EWOULDBLOCK : EDEADLK;
        }
    }
    if (description->lock == 0) {
        description->next_locked = locked;
        locked = description;
    }
    description->lock = wanted;
    return 0;
}

/// The inodes keep their counts: the disk is made anew, or drops them itself.
void descriptors_void(void) {
    for (int i = 0; i < reserved_count; i++) {
        int number = reserved[i];
        if (descriptor_states[number] != DESCRIPTOR_OPEN) continue;
        struct description *description = descriptions[number];
        descriptor_states[number] = DESCRIPTOR_VOID;
        descriptions[number] = NULL;
        if (--description->references == 0) free(description);
    }
    locked = NULL;
    open_count = 0;
}

void descriptors_void_of(uint32_t process, void (*body)(struct inode *, void *), void *context) {
    for (int i = 0; i < reserved_count; i++) {
        int number = reserved[i];
        if (descriptor_states[number] != DESCRIPTOR_OPEN) continue;
        struct description *description = descriptions[number];
        if (description->process != process) continue;
        if (is_written(description)) body(inode_of(description->inode), context);
        descriptor_states[number] = DESCRIPTOR_VOID;
        descriptions[number] = NULL;
        open_count--;
        description_release(description);
    }
}

void descriptors_reclaim(void) {
    for (int i = 0; i < reserved_count; i++) {
        if (descriptor_states[reserved[i]] == DESCRIPTOR_VOID) set_free(reserved[i]);
    }
}

size_t descriptors_open(void) { return open_count; }
#endif
