#define _GNU_SOURCE
#include "CSystem.h"

#if defined(__GLIBC__)
#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

/* Threads that allocate at once seldom wait for each other if each four of them share an arena. */
enum { threads_per_arena = 4, limited_stack_size = 1 << 20 };

/* Parts and ranges that are held go back to the system as soon as they are freed. Without a fixed size, glibc
   puts them into its heap after the first one, where a hole of their size stays. */
enum { mapped_size = 4 << 20, kept_size = 1 << 20 };

/* Whatever the program has of SQLite; without statistics of its memory an allocation takes no lock. */
extern int sqlite3_config(int option, ...) __attribute__((weak));
enum { sqlite_memory_statistics = 9 };

void osssync_limit_thread_memory(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct rlimit limit;
    int is_limited = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    int arenas = is_limited || cores < 2 * threads_per_arena ? 1 : (int)(cores / threads_per_arena);
    mallopt(M_ARENA_MAX, arenas);
    mallopt(M_MMAP_THRESHOLD, mapped_size);
    mallopt(M_TRIM_THRESHOLD, kept_size);
    if (sqlite3_config) sqlite3_config(sqlite_memory_statistics, 0);
    pthread_attr_t attributes;
    if (!is_limited || pthread_attr_init(&attributes) != 0) return;
    if (pthread_attr_setstacksize(&attributes, limited_stack_size) == 0) pthread_setattr_default_np(&attributes);
    pthread_attr_destroy(&attributes);
}
#else
void osssync_limit_thread_memory(void) {}
#endif
