#ifndef CCHECKSUMS_H
#define CCHECKSUMS_H

#include <stddef.h>
#include <stdint.h>

/// Checksums that no library of the platforms computes as fast as the processor can.

/// Inputs that `checksums_md5_lanes` digests side by side.
#define CHECKSUMS_MD5_LANES 8

/// Continues the four words of an MD5 with blocks of 64 bytes.
void checksums_md5(uint32_t state[4], const uint8_t *bytes, size_t blocks);

/// Continues eight MD5s at once, each with as many blocks of its own input. Word `w` of lane `n` is
/// `states[w * CHECKSUMS_MD5_LANES + n]`.
void checksums_md5_lanes(uint32_t states[4 * CHECKSUMS_MD5_LANES],
                         const uint8_t *const inputs[CHECKSUMS_MD5_LANES], size_t blocks);

/// Continues the register of a CRC-64/NVME, without any inversion at the ends, with as many bytes
/// as it can; returns how many, which is 0 on a processor without carry-less multiplication.
size_t checksums_crc64nvme(uint64_t *state, const uint8_t *bytes, size_t count);

#endif
