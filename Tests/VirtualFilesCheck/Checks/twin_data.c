// Steps on open files.
#if defined(__linux__)
#include "twin.h"

#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/uio.h>

enum { LARGEST = 20000 };
static unsigned char bytes[2][LARGEST];

/// Sizes and offsets about the edges of pages and sectors, and anywhere.
static int64_t some_size(struct twin *twin) {
    static const int64_t edges[] = {0, 1, 511, 512, 4095, 4096, 4097, 8192, 12288};
    if (twin_below(twin, 2) == 0) return edges[twin_below(twin, sizeof edges / sizeof edges[0])];
    return (int64_t)twin_below(twin, LARGEST);
}

static void fill(struct twin *twin) {
    unsigned char value = (unsigned char)twin_below(twin, 256);
    for (int i = 0; i < LARGEST; i++) bytes[0][i] = (unsigned char)(value + i * 7 + i / 251);
    memcpy(bytes[1], bytes[0], LARGEST);
}

void twin_write(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    fill(twin);
    size_t size = (size_t)some_size(twin);
    int64_t offset = some_size(twin) - (twin_below(twin, 50) == 0);
    bool moves = twin_below(twin, 3) == 0;
    ON_BOTH(
        results,
        moves ? write(pair->on[side], bytes[side], size)
              : pwrite(pair->on[side], bytes[side], size, offset));
    twin_same(twin, moves ? "write" : "pwrite", results);
}

static void compare_bytes(struct twin *twin, const char *call, const int64_t results[2]) {
    if (!twin_same(twin, call, results) || results[0] <= 0) return;
    if (memcmp(bytes[0], bytes[1], (size_t)results[0]) != 0) twin_fail(twin, call, "other bytes");
}

void twin_read(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    size_t size = (size_t)some_size(twin);
    int64_t offset = some_size(twin) - (twin_below(twin, 50) == 0);
    bool moves = twin_below(twin, 3) == 0;
    ON_BOTH(
        results,
        moves ? read(pair->on[side], bytes[side], size)
              : pread(pair->on[side], bytes[side], size, offset));
    compare_bytes(twin, moves ? "read" : "pread", results);
}

void twin_vectors(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    fill(twin);
    size_t sizes[3];
    for (int i = 0; i < 3; i++) sizes[i] = twin_below(twin, LARGEST / 3);
    int64_t offset = some_size(twin);
    uint64_t choice = twin_below(twin, 4);
    int64_t results[2];
    for (int side = 0; side < 2; side++) {
        struct iovec vectors[3];
        unsigned char *next = bytes[side];
        for (int i = 0; i < 3; i++) {
            vectors[i] = (struct iovec){next, sizes[i]};
            next += sizes[i];
        }
        int file = pair->on[side];
        switch (choice) {
        case 0: results[side] = RESULT(writev(file, vectors, 3)); break;
        case 1: results[side] = RESULT(pwritev(file, vectors, 3, offset)); break;
        case 2: results[side] = RESULT(readv(file, vectors, 3)); break;
        default: results[side] = RESULT(preadv(file, vectors, 3, offset)); break;
        }
    }
    compare_bytes(twin, choice < 2 ? "writev" : "readv", results);
}

void twin_truncate(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    int64_t size = some_size(twin) - (twin_below(twin, 50) == 0);
    ON_BOTH(results, ftruncate(pair->on[side], size));
    twin_same(twin, "ftruncate", results);
}

void twin_preallocate(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    int64_t offset = some_size(twin);
    int64_t size = some_size(twin);
    int mode = twin_below(twin, 3) == 0 ? FALLOC_FL_KEEP_SIZE : 0;
    ON_BOTH(results, fallocate(pair->on[side], mode, offset, size));
    // Some real disks cannot.
    if (results[1] == -EOPNOTSUPP) twin->has_failed = twin->has_failed || results[0] > 0;
    else twin_same(twin, "fallocate", results);
}

void twin_seek(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL || pair->is_directory) return;
    static const int origins[] = {SEEK_SET, SEEK_CUR, SEEK_END, 99};
    int origin = origins[twin_below(twin, 20) == 0 ? 3 : twin_below(twin, 3)];
    int64_t offset = some_size(twin) - (int64_t)twin_below(twin, 1000);
    ON_BOTH(results, lseek(pair->on[side], offset, origin));
    twin_same(twin, "lseek", results);
}

void twin_descriptor_status(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    struct stat status[2];
    ON_BOTH(results, fstat(pair->on[side], &status[side]));
    if (twin_same(twin, "fstat", results)) twin_compare_status(twin, "fstat", status);
}

void twin_lock(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    static const int operations[] = {LOCK_EX, LOCK_SH, LOCK_UN};
    int operation = operations[twin_below(twin, 3)] | LOCK_NB;
    ON_BOTH(results, flock(pair->on[side], operation));
    twin_same(twin, "flock", results);
}

void twin_flags(struct twin *twin) {
    struct pair *pair = twin_pair(twin);
    if (pair == NULL) return;
    const int compared = O_ACCMODE | O_APPEND | O_NONBLOCK;
    ON_BOTH(results, fcntl(pair->on[side], F_GETFL) & compared);
    twin_same(twin, "fcntl(F_GETFL)", results);
}

void twin_copy_range(struct twin *twin) {
    struct pair *from = twin_pair(twin);
    struct pair *to = twin_pair(twin);
    if (from == NULL || to == NULL || from->is_directory || to->is_directory) return;
    struct stat status[2];
    // Whether a file can be copied to itself depends on where.
    if (fstat(from->on[0], &status[0]) != 0 || fstat(to->on[0], &status[1]) != 0) return;
    if (status[0].st_ino == status[1].st_ino) return;
    if (fcntl(to->on[0], F_GETFL) & O_APPEND) return;
    size_t size = (size_t)some_size(twin);
    int64_t start = some_size(twin);
    off64_t offsets[2] = {start, start};
    ON_BOTH(
        results, copy_file_range(from->on[side], &offsets[side], to->on[side], NULL, size, 0));
    twin_same(twin, "copy_file_range", results);
}

void twin_clone(struct twin *twin) {
    struct pair *from = twin_pair(twin);
    struct pair *to = twin_pair(twin);
    if (from == NULL || to == NULL || from->is_directory || to->is_directory) return;
    ON_BOTH(results, side == 0 ? 0 : ioctl(to->on[1], FICLONE, from->on[1]));
    // Most real disks cannot share blocks; those that can must agree.
    if (results[1] < 0) return;
    results[0] = RESULT(ioctl(to->on[0], FICLONE, from->on[0]));
    twin_same(twin, "ioctl(FICLONE)", results);
}
#endif
