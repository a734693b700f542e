#if defined(__linux__)
#include "internal.h"

#include <dlfcn.h>
#include <stdlib.h>

void *real_function(void **cache, const char *name) {
    void *function = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (function == NULL) {
        function = dlsym(RTLD_NEXT, name);
        if (function == NULL) abort();
        __atomic_store_n(cache, function, __ATOMIC_RELAXED);
    }
    return function;
}
#endif
