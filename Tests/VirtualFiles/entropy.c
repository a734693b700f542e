#if defined(__linux__)
#include "internal.h"

// splitmix64.
uint64_t mix(uint64_t value) {
    value += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

uint64_t mix_bytes(uint64_t seed, const void *bytes, size_t size) {
    const unsigned char *next = bytes;
    uint64_t hash = seed ^ (size * 0x9E3779B97F4A7C15u);
    while (size >= 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        hash = (hash ^ word) * 0xBF58476D1CE4E5B9u;
        hash ^= hash >> 29;
        next += 8;
        size -= 8;
    }
    uint64_t rest = 0;
    memcpy(&rest, next, size);
    return mix(hash ^ rest);
}

uint64_t generator_next(struct generator *generator) {
    generator->state += 0x9E3779B97F4A7C15u;
    return mix(generator->state);
}

uint64_t generator_below(struct generator *generator, uint64_t limit) {
    return generator_next(generator) % limit;
}

void entropy_fill(void *buffer, size_t size) {
    unsigned char *next = buffer;
    lock_world();
    while (size > 0) {
        uint64_t word = generator_next(&world.entropy);
        size_t count = size < 8 ? size : 8;
        memcpy(next, &word, count);
        next += count;
        size -= count;
    }
    unlock_world();
}
#endif
