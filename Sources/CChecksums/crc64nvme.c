#include "CChecksums.h"

#if defined(__x86_64__)
#include <immintrin.h>

/* Folding by carry-less multiplication (Gopal and others, "Fast CRC Computation for Generic
   Polynomials Using PCLMULQDQ Instruction"): 64 bytes a step, without tables. What is left, 128
   bits, is returned to the caller's tables as 16 bytes: their register is the same checksum. */

__attribute__((target("pclmul,sse4.1"))) static inline __attribute__((always_inline)) __m128i
fold(__m128i value, __m128i distance, __m128i next)
{
    __m128i low = _mm_clmulepi64_si128(value, distance, 0x00);
    __m128i high = _mm_clmulepi64_si128(value, distance, 0x11);
    return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

__attribute__((target("pclmul,sse4.1"))) static size_t
folded(uint64_t *state, const uint8_t *bytes, size_t count)
{
    const __m128i *blocks = (const __m128i *)bytes;
    size_t steps = count / 64;
    /* x^n modulo the polynomial for the distances of both halves; a reflected product is one bit
       short of its place, hence n of 511, 575, 127 and 191. */
    const __m128i by64 = _mm_set_epi64x(0x62242240ACE5045A, 0x0C32CDB31E18A84A);
    const __m128i by16 = _mm_set_epi64x(0x21E9761E252621AC, (int64_t)0xEADC41FD2BA3D420);
    __m128i x[4];
    for (int index = 0; index < 4; index++) x[index] = _mm_loadu_si128(blocks + index);
    x[0] = _mm_xor_si128(x[0], _mm_cvtsi64_si128((int64_t)*state));
    for (size_t step = 1; step < steps; step++) {
        for (int index = 0; index < 4; index++)
            x[index] = fold(x[index], by64, _mm_loadu_si128(blocks + 4 * step + index));
    }
    __m128i sum = fold(x[0], by16, x[1]);
    sum = fold(sum, by16, x[2]);
    sum = fold(sum, by16, x[3]);
    /* The register after these 16 bytes, from an empty one, bit by bit: once for all bytes. */
    uint64_t words[2];
    _mm_storeu_si128((__m128i *)words, sum);
    uint64_t value = 0;
    for (int word = 0; word < 2; word++) {
        value ^= words[word];
        for (int bit = 0; bit < 64; bit++)
            value = value & 1 ? value >> 1 ^ (uint64_t)0x9A6C9329AC4BC9B5 : value >> 1;
    }
    *state = value;
    return steps * 64;
}
#endif

size_t checksums_crc64nvme(uint64_t *state, const uint8_t *bytes, size_t count)
{
#if defined(__x86_64__)
    /* Of few bytes the end costs more than tables for all of them. */
    if (count >= 1024 && __builtin_cpu_supports("pclmul")) return folded(state, bytes, count);
#endif
    (void)state, (void)bytes, (void)count;
    return 0;
}
