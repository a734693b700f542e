#if defined(__linux__)
#include "internal.h"

#include <stdlib.h>

static struct version *free_versions;

static struct version *version_make(void) {
    if (free_versions == NULL) {
        enum { COUNT = 256 };
        struct version *chunk = malloc(COUNT * sizeof *chunk);
        if (chunk == NULL) abort();
        for (int i = 0; i < COUNT; i++) {
            chunk[i].older = free_versions;
            free_versions = &chunk[i];
        }
    }
    struct version *version = free_versions;
    free_versions = version->older;
    return version;
}

static void versions_free(struct version *version) {
    while (version != NULL) {
        struct version *older = version->older;
        page_release(version->page);
        version->older = free_versions;
        free_versions = version;
        version = older;
    }
}

static void *grown(void *array, uint32_t *capacity, size_t wanted, size_t size) {
    if (wanted <= *capacity) return array;
    uint32_t larger = *capacity < 4 ? 4 : *capacity;
    while (larger < wanted) larger *= 2;
    array = realloc(array, larger * size);
    if (array == NULL) abort();
    *capacity = larger;
    return array;
}

static void reserve_slots(struct content *content, size_t count) {
    uint32_t before = content->slot_capacity;
    content->slots = grown(content->slots, &content->slot_capacity, count, sizeof(struct slot));
    size_t added = content->slot_capacity - before;
    if (added > 0) memset(content->slots + before, 0, added * sizeof(struct slot));
}

static struct growth *last_growth(struct content *content) {
    if (content->growth_count == 0) return NULL;
    return &content->growths[content->growth_count - 1];
}

static void add_growth(struct content *content, int64_t size) {
    content->growths = grown(
        content->growths, &content->growth_capacity, content->growth_count + 1,
        sizeof(struct growth));
    content->growths[content->growth_count++] = (struct growth){size, size};
}

static void grow(struct content *content, int64_t size) {
    if (content->growth_count == 0) add_growth(content, content->size);
    last_growth(content)->to = size;
    content->size = size;
}

/// Keeps the page of a slot as its newest older version.
static void push_version(
    struct content *content, uint32_t index, uint32_t truncation, uint32_t kept
) {
    struct slot *slot = &content->slots[index];
    struct version *version = version_make();
    version->older = slot->older;
    version->page = slot->page;
    version->truncation = truncation;
    version->kept = kept;
    version->depth = slot->older == NULL ? 1 : slot->older->depth + 1;
    if (slot->older == NULL) {
        content->dirty = grown(
            content->dirty, &content->dirty_capacity, content->dirty_count + 1, sizeof(uint32_t));
        content->dirty[content->dirty_count++] = index;
    }
    slot->older = version;
}

/// Makes the page of a slot ours to write; false if the disk is full.
static bool prepare_write(struct content *content, uint32_t index, bool whole) {
    struct slot *slot = &content->slots[index];
    struct page *old = slot->page;
    if (old == NULL) {
        bool is_limited = world.capacity_pages >= 0;
        if (is_limited && world.disk.used_pages >= world.capacity_pages) return false;
        world.disk.used_pages++;
        content->pages++;
    }
    bool keeps = slot->older == NULL || slot->older->depth < VERSIONS_KEPT
        || slot->older->truncation != 0;
    if (!keeps && old != NULL && old->references == 1) {
        old->is_hashed = false;
        return true;
    }
    struct page *page = page_make();
    if (!whole) {
        if (old == NULL) {
            memset(page->bytes, 0, PAGE_SIZE);
        } else {
            memcpy(page->bytes, old->bytes, PAGE_SIZE);
        }
    }
    if (keeps) {
        push_version(content, index, 0, PAGE_SIZE);
    } else {
        page_release(old);
    }
    slot->page = page;
    return true;
}

size_t content_read(const struct content *content, void *buffer, size_t size, int64_t offset) {
    if (offset >= content->size) return 0;
    if ((int64_t)size > content->size - offset) size = (size_t)(content->size - offset);
    size_t done = 0;
    while (done < size) {
        uint64_t index = (uint64_t)(offset + (int64_t)done) / PAGE_SIZE;
        size_t start = (uint64_t)(offset + (int64_t)done) % PAGE_SIZE;
        size_t count = PAGE_SIZE - start;
        if (count > size - done) count = size - done;
        struct page *page = index < content->slot_capacity ? content->slots[index].page : NULL;
        if (page == NULL) {
            memset((char *)buffer + done, 0, count);
        } else {
            memcpy((char *)buffer + done, page->bytes + start, count);
        }
        done += count;
    }
    return size;
}

size_t content_write(struct content *content, const void *buffer, size_t size, int64_t offset) {
    if (size == 0) return 0;
    reserve_slots(content, ((uint64_t)offset + size + PAGE_SIZE - 1) / PAGE_SIZE);
    size_t done = 0;
    while (done < size) {
        uint32_t index = (uint32_t)((uint64_t)(offset + (int64_t)done) / PAGE_SIZE);
        size_t start = (uint64_t)(offset + (int64_t)done) % PAGE_SIZE;
        size_t count = PAGE_SIZE - start;
        if (count > size - done) count = size - done;
        if (!prepare_write(content, index, count == PAGE_SIZE)) break;
        memcpy(content->slots[index].page->bytes + start, (const char *)buffer + done, count);
        done += count;
    }
    if (done > 0 && offset + (int64_t)done > content->size) grow(content, offset + (int64_t)done);
    return done;
}

/// Ends the page of a slot after `kept` bytes.
static void truncate_slot(
    struct content *content, uint32_t index, uint32_t truncation, uint32_t kept
) {
    struct slot *slot = &content->slots[index];
    struct page *old = slot->page;
    if (old == NULL) return;
    push_version(content, index, truncation, kept);
    if (kept == 0) {
        slot->page = NULL;
        content->pages--;
        world.disk.used_pages--;
        return;
    }
    slot->page = page_make();
    memcpy(slot->page->bytes, old->bytes, kept);
    memset(slot->page->bytes + kept, 0, PAGE_SIZE - kept);
}

int content_resize(struct content *content, int64_t size) {
    if (size >= content->size) {
        if (size > content->size) grow(content, size);
        return 0;
    }
    if (content->growth_count == 0) add_growth(content, content->size);
    add_growth(content, size);
    uint32_t truncation = content->growth_count - 1;
    uint32_t first = (uint32_t)(size / PAGE_SIZE);
    // Preallocated space can lie beyond the end.
    uint32_t end = content->slot_capacity;
    for (uint32_t index = first; index < end; index++) {
        uint32_t kept = index == first ? (uint32_t)(size % PAGE_SIZE) : 0;
        truncate_slot(content, index, truncation, kept);
    }
    content->size = size;
    return 0;
}

int content_preallocate(struct content *content, int64_t offset, int64_t end, bool keeps_size) {
    uint64_t first = (uint64_t)offset / PAGE_SIZE;
    uint64_t last = ((uint64_t)end + PAGE_SIZE - 1) / PAGE_SIZE;
    uint64_t missing = 0;
    for (uint64_t index = first; index < last; index++) {
        if (index >= content->slot_capacity) {
            missing += last - index;
            break;
        }
        if (content->slots[index].page == NULL) missing++;
    }
    if (world.capacity_pages >= 0
        && world.disk.used_pages + (int64_t)missing > world.capacity_pages) return ENOSPC;
    reserve_slots(content, last);
    for (uint64_t index = first; index < last; index++) {
        if (content->slots[index].page == NULL) content->slots[index].page = page_of_zeros();
    }
    content->pages += (uint32_t)missing;
    world.disk.used_pages += (int64_t)missing;
    if (!keeps_size && end > content->size) grow(content, end);
    return 0;
}

int content_clone(struct content *to, const struct content *from) {
    int64_t missing = (int64_t)from->pages - to->pages;
    if (world.capacity_pages >= 0 && world.disk.used_pages + missing > world.capacity_pages) {
        return ENOSPC;
    }
    uint32_t count = (uint32_t)((from->size + PAGE_SIZE - 1) / PAGE_SIZE);
    reserve_slots(to, count);
    for (uint32_t index = 0; index < count; index++) {
        struct page *page = index < from->slot_capacity ? from->slots[index].page : NULL;
        struct slot *slot = &to->slots[index];
        if (page == slot->page) continue;
        // A hole that replaces data is written as zeros.
        if (page == NULL) page = page_of_zeros(); else page->references++;
        if (slot->page == NULL) {
            to->pages++;
            world.disk.used_pages++;
        }
        push_version(to, index, 0, PAGE_SIZE);
        slot->page = page;
    }
    if (from->size > to->size) grow(to, from->size);
    return 0;
}

void content_sync(struct content *content) {
    for (uint32_t i = 0; i < content->dirty_count; i++) {
        struct slot *slot = &content->slots[content->dirty[i]];
        versions_free(slot->older);
        slot->older = NULL;
    }
    content->dirty_count = 0;
    content->growth_count = 0;
}

void content_free(struct content *content) {
    for (uint32_t index = 0; index < content->slot_capacity; index++) {
        page_release(content->slots[index].page);
        if (content->slots[index].older != NULL) versions_free(content->slots[index].older);
    }
    free(content->slots);
    free(content->dirty);
    free(content->growths);
    memset(content, 0, sizeof *content);
}

static void *duplicate(const void *array, size_t size) {
    if (size == 0) return NULL;
    void *copy = malloc(size);
    if (copy == NULL) abort();
    memcpy(copy, array, size);
    return copy;
}

void content_copy(struct content *to, const struct content *from) {
    *to = *from;
    to->slots = duplicate(from->slots, from->slot_capacity * sizeof(struct slot));
    to->dirty = duplicate(from->dirty, from->dirty_capacity * sizeof(uint32_t));
    to->growths = duplicate(from->growths, from->growth_capacity * sizeof(struct growth));
    for (uint32_t index = 0; index < to->slot_capacity; index++) {
        struct slot *slot = &to->slots[index];
        if (slot->page != NULL) slot->page->references++;
        struct version **link = &slot->older;
        for (const struct version *old = slot->older; old != NULL; old = old->older) {
            struct version *copy = version_make();
            *copy = *old;
            if (copy->page != NULL) copy->page->references++;
            *link = copy;
            link = &copy->older;
        }
    }
}

uint64_t content_hash(const struct content *content) {
    uint64_t hash = mix((uint64_t)content->size);
    uint64_t hole = page_hash(NULL);
    for (uint32_t index = 0; index < content->slot_capacity; index++) {
        struct page *page = content->slots[index].page;
        if (page == NULL || page_hash(page) == hole) continue;
        hash = mix(hash ^ page_hash(page) ^ index);
    }
    return hash;
}

uint64_t content_durability_hash(const struct content *content) {
    uint64_t hash = content_hash(content);
    for (uint32_t i = 0; i < content->growth_count; i++) {
        hash = mix(hash ^ (uint64_t)content->growths[i].from);
        hash = mix(hash ^ (uint64_t)content->growths[i].to);
    }
    for (uint32_t i = 0; i < content->dirty_count; i++) {
        hash = mix(hash ^ content->dirty[i]);
        const struct version *version = content->slots[content->dirty[i]].older;
        for (; version != NULL; version = version->older) {
            hash = mix(hash ^ page_hash(version->page) ^ version->truncation);
        }
    }
    return hash;
}
#endif
