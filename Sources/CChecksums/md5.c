#include "CChecksums.h"

#include <string.h>

/* One MD5 depends on itself from step to step, so a processor is idle most of the time. Eight of
   them side by side fill the words of a vector; how it is made of registers is the compiler's part. */

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the lanes read words as they are in memory"
#endif

typedef uint32_t lanes __attribute__((vector_size(4 * CHECKSUMS_MD5_LANES)));

#define F(b, c, d) ((d) ^ ((b) & ((c) ^ (d))))
#define G(b, c, d) ((c) ^ ((d) & ((b) ^ (c))))
#define H(b, c, d) ((b) ^ (c) ^ (d))
#define I(b, c, d) ((c) ^ ((b) | ~(d)))

#define STEP(f, a, b, c, d, word, constant, shift) \
    do { \
        (a) += f(b, c, d) + ((word) + (uint32_t)(constant)); \
        (a) = ((a) << (shift) | (a) >> (32 - (shift))) + (b); \
    } while (0)

#define FOUR(f, w0, w1, w2, w3, k0, k1, k2, k3, s0, s1, s2, s3) \
    STEP(f, a, b, c, d, x[w0], k0, s0); \
    STEP(f, d, a, b, c, x[w1], k1, s1); \
    STEP(f, c, d, a, b, x[w2], k2, s2); \
    STEP(f, b, c, d, a, x[w3], k3, s3)

/* RFC 1321, section 3.4. */
#define ROUNDS \
    FOUR(F, 0, 1, 2, 3, 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 7, 12, 17, 22); \
    FOUR(F, 4, 5, 6, 7, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 7, 12, 17, 22); \
    FOUR(F, 8, 9, 10, 11, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 7, 12, 17, 22); \
    FOUR(F, 12, 13, 14, 15, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 7, 12, 17, 22); \
    FOUR(G, 1, 6, 11, 0, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 5, 9, 14, 20); \
    FOUR(G, 5, 10, 15, 4, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8, 5, 9, 14, 20); \
    FOUR(G, 9, 14, 3, 8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 5, 9, 14, 20); \
    FOUR(G, 13, 2, 7, 12, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 5, 9, 14, 20); \
    FOUR(H, 5, 8, 11, 14, 0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 4, 11, 16, 23); \
    FOUR(H, 1, 4, 7, 10, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 4, 11, 16, 23); \
    FOUR(H, 13, 0, 3, 6, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 4, 11, 16, 23); \
    FOUR(H, 9, 12, 15, 2, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 4, 11, 16, 23); \
    FOUR(I, 0, 7, 14, 5, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 6, 10, 15, 21); \
    FOUR(I, 12, 3, 10, 1, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1, 6, 10, 15, 21); \
    FOUR(I, 8, 15, 6, 13, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 6, 10, 15, 21); \
    FOUR(I, 4, 11, 2, 9, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391, 6, 10, 15, 21)

static inline uint32_t little_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16
        | (uint32_t)bytes[3] << 24;
}

void checksums_md5(uint32_t state[4], const uint8_t *bytes, size_t blocks)
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (; blocks > 0; blocks--, bytes += 64) {
        const uint32_t a0 = a, b0 = b, c0 = c, d0 = d;
        uint32_t x[16];
        for (int word = 0; word < 16; word++) x[word] = little_endian(bytes + 4 * word);
        ROUNDS;
        a += a0; b += b0; c += c0; d += d0;
    }
    state[0] = a; state[1] = b; state[2] = c; state[3] = d;
}

#define SHUFFLE(left, right, ...) __builtin_shufflevector(left, right, __VA_ARGS__)
#define LOW(left, right) SHUFFLE(left, right, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH(left, right) SHUFFLE(left, right, 2, 10, 3, 11, 6, 14, 7, 15)
#define LOW_PAIRS(left, right) SHUFFLE(left, right, 0, 1, 8, 9, 4, 5, 12, 13)
#define HIGH_PAIRS(left, right) SHUFFLE(left, right, 2, 3, 10, 11, 6, 7, 14, 15)
#define LOW_HALVES(left, right) SHUFFLE(left, right, 0, 1, 2, 3, 8, 9, 10, 11)
#define HIGH_HALVES(left, right) SHUFFLE(left, right, 4, 5, 6, 7, 12, 13, 14, 15)

/* Eight words of each of eight inputs become eight vectors, each of one word of all inputs. */
static inline __attribute__((always_inline)) void
transpose(lanes x[8], const uint8_t *const inputs[8], size_t offset)
{
    lanes row[8], pair[8], four[8];
    for (int lane = 0; lane < 8; lane++) memcpy(&row[lane], inputs[lane] + offset, 32);
    for (int lane = 0; lane < 8; lane += 2) {
        pair[lane] = LOW(row[lane], row[lane + 1]);
        pair[lane + 1] = HIGH(row[lane], row[lane + 1]);
    }
    for (int lane = 0; lane < 8; lane += 4) {
        four[lane] = LOW_PAIRS(pair[lane], pair[lane + 2]);
        four[lane + 1] = HIGH_PAIRS(pair[lane], pair[lane + 2]);
        four[lane + 2] = LOW_PAIRS(pair[lane + 1], pair[lane + 3]);
        four[lane + 3] = HIGH_PAIRS(pair[lane + 1], pair[lane + 3]);
    }
    for (int word = 0; word < 4; word++) {
        x[word] = LOW_HALVES(four[word], four[word + 4]);
        x[word + 4] = HIGH_HALVES(four[word], four[word + 4]);
    }
}

void checksums_md5_lanes(uint32_t states[32], const uint8_t *const inputs[8], size_t blocks)
{
    lanes a, b, c, d;
    memcpy(&a, states, 32);
    memcpy(&b, states + 8, 32);
    memcpy(&c, states + 16, 32);
    memcpy(&d, states + 24, 32);
    for (size_t block = 0; block < blocks; block++) {
        const lanes a0 = a, b0 = b, c0 = c, d0 = d;
        lanes x[16];
        transpose(x, inputs, block * 64);
        transpose(x + 8, inputs, block * 64 + 32);
        ROUNDS;
        a += a0; b += b0; c += c0; d += d0;
    }
    memcpy(states, &a, 32);
    memcpy(states + 8, &b, 32);
    memcpy(states + 16, &c, 32);
    memcpy(states + 24, &d, 32);
}
