#if defined(__linux__)
#include "internal.h"

#include <stdlib.h>

enum { PAGES_PER_CHUNK = 64 };

static struct page *free_pages;
static struct page zeros = {.references = 1};

/// The list of free pages goes through the place of their hashes.
static struct page **next_of(struct page *page) { return (struct page **)(void *)&page->hash; }

struct page *page_make(void) {
    if (free_pages == NULL) {
        struct page *chunk = malloc(PAGES_PER_CHUNK * sizeof *chunk);
        if (chunk == NULL) abort();
        for (int i = 0; i < PAGES_PER_CHUNK; i++) {
            *next_of(&chunk[i]) = free_pages;
            free_pages = &chunk[i];
        }
    }
    struct page *page = free_pages;
    free_pages = *next_of(page);
    page->references = 1;
    page->is_hashed = false;
    return page;
}

struct page *page_of_zeros(void) {
    zeros.references++;
    return &zeros;
}

void page_release(struct page *page) {
    if (page == NULL || --page->references > 0) return;
    *next_of(page) = free_pages;
    free_pages = page;
}

uint64_t page_hash(struct page *page) {
    if (page == NULL) page = &zeros;
    if (!page->is_hashed) {
        page->hash = mix_bytes(1, page->bytes, PAGE_SIZE);
        page->is_hashed = true;
    }
    return page->hash;
}
#endif
