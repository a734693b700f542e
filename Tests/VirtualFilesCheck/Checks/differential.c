// The same random calls on the virtual disk and on a real one, with every answer compared.
#if defined(__linux__)
#include "twin.h"
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/random.h>

enum { CALLS_PER_SEQUENCE = 120 };

typedef void (*step)(struct twin *twin);

static const step steps[] = {
    twin_open, twin_open, twin_open, twin_open_beneath, twin_close, twin_mkdir, twin_mkdir,
    twin_unlink, twin_rmdir, twin_rename, twin_rename, twin_rename, twin_link, twin_symlink,
    twin_readlink, twin_mkfifo, twin_write, twin_write, twin_write, twin_read, twin_read,
    twin_truncate, twin_preallocate, twin_status, twin_status, twin_descriptor_status,
    twin_change_mode, twin_change_times, twin_seek, twin_lock, twin_list, twin_access,
    twin_duplicate, twin_copy_range, twin_clone, twin_vectors, twin_flags,
};

static bool run_sequence(uint64_t seed, const char *real_root) {
    virtual_files_reset();
    struct twin twin;
    twin_begin(&twin, seed, real_root);
    for (int i = 0; i < CALLS_PER_SEQUENCE && !twin.has_failed; i++) {
        twin.step = i;
        steps[twin_below(&twin, sizeof steps / sizeof steps[0])](&twin);
    }
    if (!twin.has_failed) twin_compare_trees(&twin);
    twin_end(&twin);
    return !twin.has_failed && virtual_files_open_descriptors() == 0;
}

static void check_beneath(const char *place, uint64_t first, uint64_t count) {
    char root[512];
    snprintf(root, sizeof root, "%s/virtual-files.XXXXXX", place);
    if (mkdtemp(root) == NULL) {
        check_case("there is a place for real files", false);
        return;
    }
    for (uint64_t seed = first; seed < first + count; seed++) {
        char sentence[600];
        snprintf(sentence, sizeof sentence, "%s answers the same (seed %lu)", place, seed);
        bool passed = run_sequence(seed, root);
        check_case(sentence, passed);
        if (!passed) break;
    }
    rmdir(root);
}

void check_against_real_files(uint64_t first, uint64_t count) {
    const char *temporary = getenv("TMPDIR");
    // A disk is much slower than memory, and what it answers is hardly different.
    check_beneath(temporary ? temporary : "/tmp", first, 1 + count / 50);
    if (access("/dev/shm", W_OK | X_OK) == 0) check_beneath("/dev/shm", first, count);
}
#endif
