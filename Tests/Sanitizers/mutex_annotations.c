// Tells ThreadSanitizer what the contended paths of Swift's Mutex do.
//
// The uncontended ones are inlined and seen; the others sleep on a futex inside the Synchronization
// library, which is not built for the sanitizer, so that whoever locks after a wait seems to race with
// whoever unlocked. Preloaded, these two stand before the library's own.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

#define SWIFT_METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

typedef SWIFT_METHOD void (*lock_function)(uint32_t thread, SELF handle);
typedef SWIFT_METHOD void (*unlock_function)(SELF handle);

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

static void *next(const char *name)
{
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL)
        abort();
    return function;
}

SWIFT_METHOD void lock_slow(uint32_t thread, SELF handle) __asm__(LOCK_SLOW);
SWIFT_METHOD void lock_slow(uint32_t thread, SELF handle)
{
    static lock_function library;
    lock_function function = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
    if (function == NULL) {
        function = (lock_function)next(LOCK_SLOW);
        __atomic_store_n(&library, function, __ATOMIC_RELEASE);
    }
    function(thread, handle);
    if (__tsan_acquire)
        __tsan_acquire(handle);
}

SWIFT_METHOD void unlock_slow(SELF handle) __asm__(UNLOCK_SLOW);
SWIFT_METHOD void unlock_slow(SELF handle)
{
    static unlock_function library;
    unlock_function function = __atomic_load_n(&library, __ATOMIC_ACQUIRE);
    if (function == NULL) {
        function = (unlock_function)next(UNLOCK_SLOW);
        __atomic_store_n(&library, function, __ATOMIC_RELEASE);
    }
    if (__tsan_release)
        __tsan_release(handle);
    function(handle);
}
