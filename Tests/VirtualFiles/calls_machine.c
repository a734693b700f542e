// The C library's functions for time and randomness, and the door past all functions.
#if defined(__linux__)
#include "calls.h"

#include <linux/openat2.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/time.h>

// MARK: - Time

static bool is_wall_clock(clockid_t clock) {
    return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (world.has_clock && is_wall_clock(clock)) {
        *time = world.clock;
        return 0;
    }
    return REAL("clock_gettime", int (*)(clockid_t, struct timespec *))(clock, time);
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    if (world.has_clock) {
        *time = (struct timeval){world.clock.tv_sec, world.clock.tv_nsec / 1000};
        return 0;
    }
    return REAL("gettimeofday", int (*)(struct timeval *, void *))(time, zone);
}

time_t time(time_t *result) {
    if (!world.has_clock) return REAL("time", time_t (*)(time_t *))(result);
    if (result != NULL) *result = world.clock.tv_sec;
    return world.clock.tv_sec;
}

/// Nobody waits for a process that is dead: SQLite does, up to ten seconds, when its locks fail.
static bool sleeps_at_once(void) { return world.has_clock || world.is_frozen; }

int usleep(useconds_t microseconds) {
    if (sleeps_at_once()) return 0;
    return REAL("usleep", int (*)(useconds_t))(microseconds);
}

unsigned int sleep(unsigned int seconds) {
    if (sleeps_at_once()) return 0;
    return REAL("sleep", unsigned int (*)(unsigned int))(seconds);
}

// MARK: - Randomness

ssize_t getrandom(void *buffer, size_t size, unsigned int flags) {
    if (!world.has_entropy) {
        return REAL("getrandom", ssize_t (*)(void *, size_t, unsigned int))(buffer, size, flags);
    }
    entropy_fill(buffer, size);
    return (ssize_t)size;
}

int getentropy(void *buffer, size_t size) {
    if (!world.has_entropy) return REAL("getentropy", int (*)(void *, size_t))(buffer, size);
    entropy_fill(buffer, size);
    return 0;
}

void arc4random_buf(void *buffer, size_t size) {
    if (world.has_entropy) {
        entropy_fill(buffer, size);
    } else {
        REAL("arc4random_buf", void (*)(void *, size_t))(buffer, size);
    }
}

uint32_t arc4random(void) {
    uint32_t number;
    arc4random_buf(&number, sizeof number);
    return number;
}

uint32_t arc4random_uniform(uint32_t limit) {
    uint64_t number;
    arc4random_buf(&number, sizeof number);
    return limit < 2 ? 0 : (uint32_t)(number % limit);
}

// MARK: - syscall

static int virtual_openat2(int directory, const char *path, const struct open_how *how) {
    const uint64_t known = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS
        | RESOLVE_NO_XDEV;
    if (how->resolve & ~known) {
        errno = EINVAL;
        return -1;
    }
    int flags = 0;
    if (how->resolve & RESOLVE_BENEATH) flags |= WALK_BENEATH;
    if (how->resolve & RESOLVE_NO_SYMLINKS) flags |= WALK_NO_LINKS;
    return virtual_open(directory, path, (int)how->flags, (mode_t)how->mode, flags);
}

long syscall(long number, ...) {
    va_list list;
    va_start(list, number);
    long a[6];
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    switch (number) {
    case SYS_openat2:
        if (!is_virtual_path((int)a[0], (const char *)a[1])) break;
        return virtual_openat2((int)a[0], (const char *)a[1], (const struct open_how *)a[2]);
    case SYS_renameat2:
        if (!is_virtual_path((int)a[0], (const char *)a[1])) break;
        return renameat2(
            (int)a[0], (const char *)a[1], (int)a[2], (const char *)a[3], (unsigned int)a[4]);
    case SYS_getrandom:
        if (!world.has_entropy) break;
        return getrandom((void *)a[0], (size_t)a[1], (unsigned int)a[2]);
    }
    return REAL("syscall", long (*)(long, ...))(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
#endif
