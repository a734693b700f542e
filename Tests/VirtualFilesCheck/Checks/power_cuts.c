// What a power cut may take, and what it must leave.
#if defined(__linux__)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "model.h"
#include "virtual_files.h"
#include "virtual_files_checks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// MARK: - Names

static bool same_directory(const struct state *a, const struct state *b, int directory) {
    return memcmp(a->file[directory], b->file[directory], sizeof a->file[directory]) == 0;
}

/// Whether the disk is as it was after one of the changes since the last sync.
static bool is_prefix(const struct history *history, const struct state *found) {
    for (int i = history->journal; i < history->count; i++) {
        if (memcmp(&history->states[i], found, sizeof *found) == 0) return true;
    }
    return false;
}

static bool are_prefixes(const struct history *history, const struct state *found) {
    for (int directory = 0; directory < DIRECTORIES; directory++) {
        bool is_found = false;
        for (int i = history->directory[directory]; i < history->count && !is_found; i++) {
            is_found = same_directory(&history->states[i], found, directory);
        }
        if (!is_found) return false;
    }
    return true;
}

/// Whether each name has a file that it had since its directory was synced, or none as it had then.
static bool are_possible(const struct history *history, const struct state *found) {
    for (int directory = 0; directory < DIRECTORIES; directory++) {
        for (int name = 0; name < NAMES; name++) {
            bool is_found = false;
            for (int i = history->directory[directory]; i < history->count && !is_found; i++) {
                is_found = history->states[i].file[directory][name] == found->file[directory][name];
            }
            if (!is_found) return false;
        }
    }
    return true;
}

static int count_names(const struct state *state, uint8_t file) {
    int count = 0;
    for (int directory = 0; directory < DIRECTORIES; directory++) {
        for (int name = 0; name < NAMES; name++) count += state->file[directory][name] == file;
    }
    return count;
}

/// Whether each file has one name at most, and one at least if it had one at every moment since it
/// was last known to be durable.
static bool are_renames_whole(const struct history *history, const struct state *found) {
    // All changes before this one are durable, in whatever directory they were.
    int first = history->count - 1;
    for (int i = 0; i < DIRECTORIES; i++) {
        if (history->directory[i] < first) first = history->directory[i];
    }
    for (int file = 1; file <= history->count + 1; file++) {
        int count = count_names(found, (uint8_t)file);
        if (count > 1) return false;
        bool was_always = true;
        for (int i = first; i < history->count && was_always; i++) {
            was_always = count_names(&history->states[i], (uint8_t)file) == 1;
        }
        if (was_always && count == 0) return false;
    }
    return true;
}

struct findings {
    bool is_right;
    bool loses, keeps, is_out_of_order;
};

static void check_names(uint64_t seed, enum virtual_files_power_mode mode, struct findings *all) {
    static struct history history;
    struct chooser chooser = {seed};
    virtual_files_reset();
    virtual_files_set_inode_reuse(seed % 2 == 0);
    model_run(&history, &chooser, 10 + (int)choose(&chooser, 60));
    struct state found;
    virtual_files_reboot(VIRTUAL_FILES_POWER, seed, mode);
    bool is_right = model_look(&found) && are_renames_whole(&history, &found)
        && are_possible(&history, &found);
    if (mode == VIRTUAL_FILES_JOURNAL && !is_prefix(&history, &found)) is_right = false;
    if (mode == VIRTUAL_FILES_DIRECTORY_PREFIX && !are_prefixes(&history, &found)) is_right = false;
    if (!is_right && all->is_right) printf("seed %lu, mode %d\n", seed, mode);
    all->is_right = all->is_right && is_right;
    bool is_last = memcmp(&history.states[history.count - 1], &found, sizeof found) == 0;
    bool is_durable = memcmp(&history.states[history.journal], &found, sizeof found) == 0;
    if (is_last) all->keeps = true;
    if (is_durable && !is_last) all->loses = true;
    bool is_ordered = mode == VIRTUAL_FILES_ANY_SUBSET
        ? are_prefixes(&history, &found) : is_prefix(&history, &found);
    if (!is_ordered) all->is_out_of_order = true;
    // What a cut left is durable.
    uint64_t hash = virtual_files_hash();
    virtual_files_reboot(VIRTUAL_FILES_POWER, seed + 1, VIRTUAL_FILES_ANY_SUBSET);
    all->is_right = all->is_right && hash == virtual_files_hash();
}

static void check_modes(uint64_t seeds) {
    static const char *const names[] = {"a journal", "ordered directories", "any subset"};
    for (int mode = 0; mode < 3; mode++) {
        struct findings findings = {.is_right = true};
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            check_names(seed, (enum virtual_files_power_mode)mode, &findings);
        }
        char sentence[120];
        snprintf(sentence, sizeof sentence, "names are legal after a power cut: %s", names[mode]);
        check_case(sentence, findings.is_right);
        snprintf(sentence, sizeof sentence, "names can be lost and can be kept: %s", names[mode]);
        check_case(sentence, findings.loses && findings.keeps);
        snprintf(sentence, sizeof sentence, "the order is lost where it may be: %s", names[mode]);
        check_case(sentence, findings.is_out_of_order == (mode != VIRTUAL_FILES_JOURNAL));
    }
}

// MARK: - Contents

enum { LARGEST = 5 * 4096, MOMENTS = 40 };

/// What a file held at each moment since it was synced.
struct moments {
    int count;
    int64_t size[MOMENTS];
    unsigned char bytes[MOMENTS][LARGEST];
};

static void remember(struct moments *moments, int descriptor) {
    int i = moments->count++;
    memset(moments->bytes[i], 0, LARGEST);
    moments->size[i] = pread(descriptor, moments->bytes[i], LARGEST, 0);
}

static void write_some(int descriptor, struct chooser *chooser) {
    unsigned char bytes[LARGEST];
    memset(bytes, 1 + (int)choose(chooser, 255), sizeof bytes);
    int64_t offset = (int64_t)choose(chooser, LARGEST);
    int64_t size = 1 + (int64_t)choose(chooser, (uint64_t)(LARGEST - offset));
    switch (choose(chooser, 8)) {
    case 0: ftruncate(descriptor, offset); break;
    case 1: fallocate(descriptor, 0, offset, size); break;
    case 2: ftruncate(descriptor, 0); break;
    default: pwrite(descriptor, bytes, (size_t)size, offset);
    }
}

/// Whether a sector is as it was at some moment, or has a beginning of what it was and then zeros:
/// a smaller size cut it, or it was never written.
static bool is_known_sector(
    const struct moments *moments, const unsigned char *bytes, int64_t start, int64_t size
) {
    for (int i = 0; i < moments->count; i++) {
        const unsigned char *known = moments->bytes[i] + start;
        int64_t same = 0;
        while (same < size && bytes[start + same] == known[same]) same++;
        while (same < size && bytes[start + same] == 0) same++;
        if (same == size) return true;
    }
    return false;
}

static bool is_known_content(const struct moments *moments, int descriptor) {
    unsigned char bytes[LARGEST + 1];
    int64_t size = pread(descriptor, bytes, sizeof bytes, 0);
    int64_t least = moments->size[0];
    int64_t most = moments->size[0];
    for (int i = 1; i < moments->count; i++) {
        if (moments->size[i] < least) least = moments->size[i];
        if (moments->size[i] > most) most = moments->size[i];
    }
    if (size < least || size > most) return false;
    if (moments->count == 1 && memcmp(bytes, moments->bytes[0], (size_t)size) != 0) return false;
    for (int64_t start = 0; start < size; start += 512) {
        int64_t length = size - start < 512 ? size - start : 512;
        if (!is_known_sector(moments, bytes, start, length)) return false;
    }
    return true;
}

static bool is_moment(const struct moments *moments, int descriptor, int i) {
    unsigned char bytes[LARGEST + 1];
    int64_t size = pread(descriptor, bytes, sizeof bytes, 0);
    return size == moments->size[i] && memcmp(bytes, moments->bytes[i], (size_t)size) == 0;
}

static void check_contents(uint64_t seeds) {
    static struct moments moments;
    bool is_right = true;
    int first = 0, last = 0, mixed = 0;
    for (uint64_t seed = 1; seed <= seeds && is_right; seed++) {
        struct chooser chooser = {seed};
        virtual_files_reset();
        int file = open("/virtual/f", O_RDWR | O_CREAT, 0644);
        syncfs(file);
        moments.count = 0;
        remember(&moments, file);
        for (uint64_t calls = 1 + choose(&chooser, MOMENTS - 2); calls > 0; calls--) {
            if (choose(&chooser, 8) == 0) {
                if (choose(&chooser, 2) == 0) fsync(file); else fdatasync(file);
                moments.count = 0;
            } else {
                write_some(file, &chooser);
            }
            remember(&moments, file);
        }
        virtual_files_reboot(VIRTUAL_FILES_POWER, seed, (enum virtual_files_power_mode)(seed % 3));
        close(file);
        file = open("/virtual/f", O_RDONLY);
        is_right = is_known_content(&moments, file);
        if (!is_right) printf("contents: seed %lu\n", seed);
        bool is_first = is_moment(&moments, file, 0);
        bool is_last = is_moment(&moments, file, moments.count - 1);
        if (is_first && !is_last) first++;
        if (is_last && !is_first) last++;
        if (!is_first && !is_last) mixed++;
        close(file);
    }
    check_case("contents are legal after a power cut", is_right);
    check_case("contents can be lost, kept and mixed", first > 0 && last > 0 && mixed > 0);
}

// MARK: - One thing at a time

static void write_file(const char *path, const char *text) {
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    write(file, text, strlen(text));
    fsync(file);
    close(file);
}

static void check_names_of_synced_files(uint64_t seeds) {
    for (int as_ext4 = 0; as_ext4 < 2; as_ext4++) {
        int lost = 0;
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            virtual_files_reset();
            virtual_files_set_fsync_names(as_ext4 == 1);
            mkdir("/virtual/d", 0755);
            write_file("/virtual/d/f", "x");
            virtual_files_reboot(
                VIRTUAL_FILES_POWER, seed, (enum virtual_files_power_mode)(seed % 3));
            if (access("/virtual/d/f", F_OK) != 0) lost++;
        }
        if (as_ext4) check_case("as on ext4, fsync makes a name durable", lost == 0);
        else check_case("fsync of a file leaves its name to chance", lost > 0 && lost < (int)seeds);
    }
}

/// A file of three pages is cut and grows again to the same size: both can be seen, or neither.
static void check_truncation(uint64_t seeds) {
    enum { SIZE = 3 * 4096, CUT = 100 };
    bool is_right = true;
    int whole = 0;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        unsigned char bytes[SIZE], found[SIZE + 1];
        memset(bytes, 'a', SIZE);
        virtual_files_reset();
        int file = open("/virtual/f", O_RDWR | O_CREAT, 0600);
        pwrite(file, bytes, SIZE, 0);
        syncfs(file);
        ftruncate(file, CUT);
        memset(bytes, 'b', SIZE);
        pwrite(file, bytes, 4096, 8192);
        virtual_files_reboot(VIRTUAL_FILES_POWER, seed, VIRTUAL_FILES_ANY_SUBSET);
        close(file);
        file = open("/virtual/f", O_RDONLY);
        int64_t size = pread(file, found, sizeof found, 0);
        close(file);
        bool is_old = size == SIZE;
        bool is_cut = size >= CUT;
        for (int64_t i = 0; i < size; i++) {
            if (found[i] != 'a') is_old = false;
            bool is_possible = i < CUT ? found[i] == 'a'
                : found[i] == 0 || (i >= 8192 && found[i] == 'b');
            if (!is_possible) is_cut = false;
        }
        is_right = is_right && (is_old || is_cut);
        if (is_old) whole++;
    }
    check_case("a truncation happened wholly or not at all", is_right);
    check_case("a truncation can be lost", whole > 0 && whole < (int)seeds);
}

static void check_metadata(uint64_t seeds) {
    int lost = 0, lost_times = 0;
    bool is_kept = true;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        virtual_files_reset();
        virtual_files_set_fsync_names(true);
        virtual_files_set_time(1000, 1);
        write_file("/virtual/f", "x");
        const struct timespec times[2][2] = {{{5, 6}, {7, 8}}, {{5, 6}, {9, 8}}};
        int file = open("/virtual/f", O_RDWR);
        fchmod(file, 0640);
        futimens(file, times[0]);
        fsync(file);
        fchmod(file, 0755);
        futimens(file, times[1]);
        fdatasync(file);
        virtual_files_reboot(VIRTUAL_FILES_POWER, seed, VIRTUAL_FILES_ANY_SUBSET);
        close(file);
        struct stat status;
        if (stat("/virtual/f", &status) != 0) is_kept = false;
        mode_t mode = status.st_mode & 0777;
        int64_t time = status.st_mtim.tv_sec;
        if (status.st_mtim.tv_nsec != 8 || (time != 7 && time != 9)) is_kept = false;
        if (mode != 0640 && mode != 0755) is_kept = false;
        if (mode == 0640) lost++;
        if (time == 7) lost_times++;
    }
    check_case("synced modes and times are kept", is_kept);
    check_case("other modes are left to chance", lost > 0 && lost < (int)seeds);
    check_case("fdatasync keeps no times", lost_times > 0 && lost_times < (int)seeds);
}

void check_power(uint64_t seeds) {
    check_modes(seeds);
    check_contents(seeds);
    check_names_of_synced_files(100);
    check_truncation(300);
    check_metadata(100);
}
#endif
