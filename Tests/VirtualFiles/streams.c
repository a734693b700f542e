// Directory streams.
#if defined(__linux__)
#include "internal.h"
#include "calls.h"

#include <dirent.h>
#include <stdlib.h>

/// A stream holds the names as they were when it began to read.
struct stream {
    enum { STREAM_FREE, STREAM_OPEN, STREAM_VOID } state;
    int descriptor;
    uint32_t process;
    bool has_read;
    uint32_t next, count;
    struct item {
        struct name *name;
        uint64_t number;
        unsigned char type;
    } *items;
    struct dirent entry;
};

enum { STREAMS = 1024 };
/// Real streams are told apart by their addresses.
static struct stream streams[STREAMS];
/// No stream from this one on was ever used.
static int stream_limit;

static struct stream *stream_of(DIR *directory) {
    uintptr_t address = (uintptr_t)directory;
    if (address < (uintptr_t)streams || address >= (uintptr_t)(streams + STREAMS)) return NULL;
    return (struct stream *)directory;
}

static void clear(struct stream *stream) {
    for (uint32_t i = 0; i < stream->count; i++) name_release(stream->items[i].name);
    free(stream->items);
    stream->items = NULL;
    stream->count = stream->next = 0;
    stream->has_read = false;
}

void streams_void(void) {
    for (int i = 0; i < stream_limit; i++) {
        if (streams[i].state != STREAM_OPEN) continue;
        clear(&streams[i]);
        streams[i].state = STREAM_VOID;
    }
}

void streams_void_of(uint32_t process) {
    for (int i = 0; i < stream_limit; i++) {
        if (streams[i].state != STREAM_OPEN || streams[i].process != process) continue;
        clear(&streams[i]);
        streams[i].state = STREAM_VOID;
    }
}

void streams_reclaim(void) {
    for (int i = 0; i < stream_limit; i++) {
        if (streams[i].state == STREAM_VOID) streams[i].state = STREAM_FREE;
    }
}

/// Each of them has a descriptor, which is counted.
size_t streams_open(void) { return 0; }

static struct stream *stream_make(int descriptor) {
    for (int i = 0; i < STREAMS; i++) {
        if (streams[i].state != STREAM_FREE) continue;
        streams[i].state = STREAM_OPEN;
        streams[i].descriptor = descriptor;
        streams[i].process = world.process;
        if (i >= stream_limit) stream_limit = i + 1;
        return &streams[i];
    }
    return NULL;
}

DIR *fdopendir(int descriptor) {
    if (!is_virtual(descriptor)) return REAL("fdopendir", DIR *(*)(int))(descriptor);
    if (!call_begin("fdopendir", descriptor, NULL, NULL, false, 0, NULL)) return NULL;
    struct description *description = description_of(descriptor);
    int code = 0;
    struct stream *stream = NULL;
    if (description == NULL || (description->flags & O_PATH)) code = EBADF;
    else if (!is_directory(inode_of(description->inode))) code = ENOTDIR;
    else stream = stream_make(descriptor);
    if (code == 0 && stream == NULL) code = EMFILE;
    call_end(code);
    return (DIR *)stream;
}

DIR *opendir(const char *path) {
    if (!is_beneath_root(path)) return REAL("opendir", DIR *(*)(const char *))(path);
    int descriptor = openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return NULL;
    lock_world();
    struct stream *stream = stream_make(descriptor);
    unlock_world();
    if (stream == NULL) {
        close(descriptor);
        errno = EMFILE;
    }
    return (DIR *)stream;
}

static void add_item(struct stream *stream, struct name *name, const struct inode *inode) {
    stream->items[stream->count++] = (struct item){
        name, inode->number, (unsigned char)IFTODT(inode->now.mode),
    };
}

/// A removed directory has no names at all.
static void fill(struct stream *stream, const struct inode *directory) {
    stream->has_read = true;
    if (directory->links == 0) return;
    uint32_t count = directory->present.count;
    stream->items = malloc((count + 2) * sizeof *stream->items);
    if (stream->items == NULL) abort();
    add_item(stream, name_make(".", 1), directory);
    add_item(stream, name_make("..", 2), inode_of(directory->parent));
    for (uint32_t i = 0; i < count; i++) {
        const struct entry *entry = &directory->present.entries[i];
        add_item(stream, name_retain(entry->name), inode_of(entry->inode));
    }
    if (world.directory_order == 0) return;
    struct generator generator = {mix(world.directory_order ^ mix(++world.directory_reads))};
    for (uint32_t i = stream->count; i > 1; i--) {
        uint32_t other = (uint32_t)generator_below(&generator, i);
        struct item item = stream->items[other];
        stream->items[other] = stream->items[i - 1];
        stream->items[i - 1] = item;
    }
}

static struct dirent *read_stream(struct stream *stream) {
    if (stream->state != STREAM_OPEN) {
        errno = EBADF;
        return NULL;
    }
    int before = errno;
    if (!call_begin("readdir", stream->descriptor, NULL, NULL, false, 0, NULL)) return NULL;
    struct description *description = description_of(stream->descriptor);
    if (description == NULL) {
        call_end(EBADF);
        return NULL;
    }
    if (!stream->has_read) fill(stream, inode_of(description->inode));
    struct dirent *entry = NULL;
    if (stream->next < stream->count) {
        const struct item *item = &stream->items[stream->next++];
        entry = &stream->entry;
        entry->d_ino = item->number;
        entry->d_off = stream->next;
        entry->d_reclen = sizeof *entry;
        entry->d_type = item->type;
        memcpy(entry->d_name, item->name->text, item->name->length + 1);
    }
    call_end(0);
    errno = before;
    return entry;
}

struct dirent *readdir(DIR *directory) {
    struct stream *stream = stream_of(directory);
    if (stream == NULL) return REAL("readdir", struct dirent *(*)(DIR *))(directory);
    return read_stream(stream);
}

struct dirent64 *readdir64(DIR *directory) {
    struct stream *stream = stream_of(directory);
    if (stream == NULL) return REAL("readdir64", struct dirent64 *(*)(DIR *))(directory);
    return (struct dirent64 *)(void *)read_stream(stream);
}

int dirfd(DIR *directory) {
    struct stream *stream = stream_of(directory);
    if (stream == NULL) return REAL("dirfd", int (*)(DIR *))(directory);
    return stream->descriptor;
}

void rewinddir(DIR *directory) {
    struct stream *stream = stream_of(directory);
    if (stream == NULL) {
        REAL("rewinddir", void (*)(DIR *))(directory);
        return;
    }
    lock_world();
    clear(stream);
    unlock_world();
}

long telldir(DIR *directory) {
    struct stream *stream = stream_of(directory);
    if (stream == NULL) return REAL("telldir", long (*)(DIR *))(directory);
    return stream->next;
}

void seekdir(DIR *directory, long position) {
    struct stream *stream = stream_of(directory);
    if (stream == NULL) {
        REAL("seekdir", void (*)(DIR *, long))(directory, position);
    } else if (position >= 0 && position <= stream->count) {
        stream->next = (uint32_t)position;
    }
}

int closedir(DIR *directory) {
    struct stream *stream = stream_of(directory);
    if (stream == NULL) return REAL("closedir", int (*)(DIR *))(directory);
    lock_world();
    clear(stream);
    int descriptor = stream->descriptor;
    bool is_open = stream->state != STREAM_FREE;
    stream->state = STREAM_FREE;
    unlock_world();
    if (is_open) return close(descriptor);
    errno = EBADF;
    return -1;
}
#endif
