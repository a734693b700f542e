// What a power cut leaves of a file's content.
#if defined(__linux__)
#include "internal.h"

/// A version that a piece can have after the cut: the first bytes of a page, then zeros.
struct candidate {
    struct page *page;
    uint32_t kept;
};

enum { CANDIDATES = 64 };

/// The versions of a slot that are possible if the truncations up to `epoch` happened and no later
/// one, the newest first.
static int candidates_of(
    const struct slot *slot, uint32_t epoch, struct candidate candidates[CANDIDATES]
) {
    int count = 0;
    uint32_t kept = PAGE_SIZE;
    candidates[count++] = (struct candidate){slot->page, kept};
    for (const struct version *version = slot->older; version != NULL; version = version->older) {
        if (version->truncation > epoch) {
            // What came after this truncation was in blocks that the file never got.
            count = 0;
            kept = PAGE_SIZE;
        } else if (version->truncation > 0 && version->kept < kept) {
            kept = version->kept;
        }
        struct candidate candidate = {version->page, kept};
        // The durable one stays, whatever there is no room for.
        if (count == CANDIDATES) count--;
        candidates[count++] = candidate;
    }
    return count;
}

static void copy_bytes(
    unsigned char *to, const struct candidate *candidate, uint32_t start, uint32_t end
) {
    for (uint32_t at = start; at < end; at += SECTOR_SIZE) {
        uint32_t kept = candidate->page == NULL || candidate->kept <= at ? 0 : candidate->kept - at;
        if (kept > SECTOR_SIZE) kept = SECTOR_SIZE;
        if (kept > 0) memcpy(to + at, candidate->page->bytes + at, kept);
        memset(to + at + kept, 0, SECTOR_SIZE - kept);
    }
}

static int choose(int count, struct generator *generator, uint32_t newest) {
    if (count == 1 || generator_below(generator, 4) < newest) return 0;
    return 1 + (int)generator_below(generator, (uint64_t)count - 1);
}

static void cut_slot(
    struct slot *slot, uint32_t epoch, struct generator *generator, uint32_t newest
) {
    struct candidate candidates[CANDIDATES];
    int count = candidates_of(slot, epoch, candidates);
    struct candidate first = candidates[choose(count, generator, newest)];
    bool is_torn = count > 1 && generator_below(generator, 4) == 0;
    struct page *result;
    if (is_torn) {
        struct candidate second = candidates[generator_below(generator, (uint64_t)count)];
        result = page_make();
        for (uint32_t at = 0; at < PAGE_SIZE; at += SECTOR_SIZE) {
            bool takes_first = generator_below(generator, 2) == 0;
            copy_bytes(result->bytes, takes_first ? &first : &second, at, at + SECTOR_SIZE);
        }
    } else if (first.page == NULL || first.kept == 0) {
        result = NULL;
    } else if (first.kept < PAGE_SIZE) {
        result = page_make();
        copy_bytes(result->bytes, &first, 0, PAGE_SIZE);
    } else {
        result = first.page;
        result->references++;
    }
    page_release(slot->page);
    slot->page = result;
}

static int64_t choose_size(
    const struct growth *growth, struct generator *generator, uint32_t newest
) {
    if (growth->from == growth->to || generator_below(generator, 4) < newest) return growth->to;
    if (generator_below(generator, 2) == 0) return growth->from;
    int64_t span = growth->to - growth->from;
    int64_t size = growth->from + (int64_t)generator_below(generator, (uint64_t)span);
    // Between two sizes that were seen, a file grows by whole pieces.
    size -= size % PAGE_SIZE;
    return size < growth->from ? growth->from : size;
}

void content_cut(struct content *content, struct generator *generator, uint32_t newest) {
    if (content->dirty_count == 0 && content->growth_count == 0) return;
    uint32_t epoch = 0;
    int64_t size = content->size;
    if (content->growth_count > 0) {
        epoch = content->growth_count - 1;
        if (epoch > 0 && generator_below(generator, 4) >= newest) {
            epoch = (uint32_t)generator_below(generator, content->growth_count);
        }
        size = choose_size(&content->growths[epoch], generator, newest);
    }
    for (uint32_t i = 0; i < content->dirty_count; i++) {
        cut_slot(&content->slots[content->dirty[i]], epoch, generator, newest);
    }
    content_sync(content);
    content->size = size;
    content->pages = 0;
    for (uint32_t index = 0; index < content->slot_capacity; index++) {
        struct slot *slot = &content->slots[index];
        int64_t start = (int64_t)index * PAGE_SIZE;
        if (slot->page != NULL && start + PAGE_SIZE > size) {
            struct candidate whole = {slot->page, start < size ? (uint32_t)(size - start) : 0};
            struct page *ended = NULL;
            if (whole.kept > 0) {
                ended = page_make();
                copy_bytes(ended->bytes, &whole, 0, PAGE_SIZE);
            }
            page_release(slot->page);
            slot->page = ended;
        }
        if (slot->page != NULL) content->pages++;
    }
}
#endif
