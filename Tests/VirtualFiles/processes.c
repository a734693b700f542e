// Processes on several machines, which share the disk.
#if defined(__linux__)
#include "internal.h"

uint32_t virtual_files_begin_process(void) { return ++world.last_process; }

void virtual_files_set_process(
    uint32_t process, uint32_t machine, bool is_dead, int64_t seconds, int64_t nanoseconds
) {
    lock_world();
    world.process = process;
    world.machine = machine;
    world.is_frozen = is_dead;
    world.clock = (struct timespec){(time_t)seconds, (long)nanoseconds};
    unlock_world();
}

static void lose(struct inode *inode, void *context) {
    struct generator *generator = context;
    if (generator == NULL) {
        // The system writes back what a process left that died.
        if (world.is_network) content_sync(&inode->content);
    } else {
        int64_t before = inode->content.pages;
        content_cut(&inode->content, generator, (uint32_t)generator_below(generator, 5));
        world.disk.used_pages += inode->content.pages - before;
    }
}

void virtual_files_end_process(uint32_t process, bool loses_memory, uint64_t seed) {
    lock_world();
    struct generator generator = {mix(seed)};
    descriptors_void_of(process, lose, loses_memory ? &generator : NULL);
    streams_void_of(process);
    unlock_world();
}

void virtual_files_set_network(bool is_network, bool has_local_locks) {
    lock_world();
    world.is_network = is_network;
    world.has_local_locks = has_local_locks;
    unlock_world();
}
#endif
