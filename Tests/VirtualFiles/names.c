#if defined(__linux__)
#include "internal.h"

#include <stdlib.h>

uint32_t name_hash(const char *text, size_t length) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

struct name *name_make(const char *text, size_t length) {
    struct name *name = malloc(sizeof *name + length + 1);
    if (name == NULL) abort();
    name->references = 1;
    name->hash = name_hash(text, length);
    name->length = (uint32_t)length;
    memcpy(name->text, text, length);
    name->text[length] = 0;
    return name;
}

struct name *name_retain(struct name *name) {
    if (name != NULL) name->references++;
    return name;
}

void name_release(struct name *name) {
    if (name != NULL && --name->references == 0) free(name);
}

enum { UNINDEXED = 16, REMOVED = -1 };

static bool is_name(const struct name *name, const char *text, size_t length, uint32_t hash) {
    return name->hash == hash && name->length == length && memcmp(name->text, text, length) == 0;
}

struct entry *table_find(
    const struct table *table, const char *text, size_t length, uint32_t hash
) {
    if (table->index == NULL) {
        for (uint32_t i = 0; i < table->count; i++) {
            if (is_name(table->entries[i].name, text, length, hash)) return &table->entries[i];
        }
        return NULL;
    }
    uint32_t mask = table->index_size - 1;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        uint32_t position = table->index[at];
        if (position == 0) return NULL;
        if (position == (uint32_t)REMOVED) continue;
        struct entry *entry = &table->entries[position - 1];
        if (is_name(entry->name, text, length, hash)) return entry;
    }
}

struct entry *table_find_name(const struct table *table, const struct name *name) {
    return table_find(table, name->text, name->length, name->hash);
}

static void index_put(struct table *table, uint32_t hash, uint32_t position) {
    uint32_t mask = table->index_size - 1;
    uint32_t at = hash & mask;
    while (table->index[at] != 0 && table->index[at] != (uint32_t)REMOVED) at = (at + 1) & mask;
    if (table->index[at] == 0) table->index_used++;
    table->index[at] = position + 1;
}

/// The cell of the index that holds a position.
static uint32_t *index_cell(struct table *table, uint32_t hash, uint32_t position) {
    uint32_t mask = table->index_size - 1;
    uint32_t at = hash & mask;
    while (table->index[at] != position + 1) at = (at + 1) & mask;
    return &table->index[at];
}

static void index_rebuild(struct table *table) {
    uint32_t size = 64;
    while (size < table->count * 3) size *= 2;
    free(table->index);
    table->index = calloc(size, sizeof(uint32_t));
    if (table->index == NULL) abort();
    table->index_size = size;
    table->index_used = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        index_put(table, table->entries[i].name->hash, i);
    }
}

void table_add(struct table *table, struct name *name, inode_id inode) {
    if (table->count == table->capacity) {
        table->capacity = table->capacity == 0 ? 4 : table->capacity * 2;
        table->entries = realloc(table->entries, table->capacity * sizeof(struct entry));
        if (table->entries == NULL) abort();
    }
    table->entries[table->count++] = (struct entry){name_retain(name), inode};
    if (table->index != NULL) index_put(table, name->hash, table->count - 1);
    bool is_full = table->index == NULL
        ? table->count > UNINDEXED : table->index_used * 4 > table->index_size * 3;
    if (is_full) index_rebuild(table);
}

void table_remove(struct table *table, struct entry *entry) {
    uint32_t position = (uint32_t)(entry - table->entries);
    uint32_t last = table->count - 1;
    struct name *name = entry->name;
    if (table->index != NULL) *index_cell(table, name->hash, position) = (uint32_t)REMOVED;
    if (position != last) {
        struct entry *moved = &table->entries[last];
        if (table->index != NULL) *index_cell(table, moved->name->hash, last) = position + 1;
        *entry = *moved;
    }
    table->count--;
    name_release(name);
}

void table_copy(struct table *to, const struct table *from) {
    memset(to, 0, sizeof *to);
    if (from->count == 0) return;
    to->entries = malloc(from->count * sizeof(struct entry));
    if (to->entries == NULL) abort();
    memcpy(to->entries, from->entries, from->count * sizeof(struct entry));
    to->count = to->capacity = from->count;
    for (uint32_t i = 0; i < to->count; i++) name_retain(to->entries[i].name);
    if (to->count > UNINDEXED) index_rebuild(to);
}

void table_free(struct table *table) {
    for (uint32_t i = 0; i < table->count; i++) name_release(table->entries[i].name);
    free(table->entries);
    free(table->index);
    memset(table, 0, sizeof *table);
}
#endif
