// SPDX-License-Identifier: Apache-2.0
// The fixed-point root of the functions of this folder.
#ifndef KERNELS_NORMALIZE_RSQRT_H_
#define KERNELS_NORMALIZE_RSQRT_H_

#include <stdint.h>

// 1 / sqrt(m) for m in [1/4, 1], in Q30, by a line.
#define ROOT_START 2290076562u
#define ROOT_SLOPE 1308569161u
#define ROOT_ITERATIONS 3

// 1 / sqrt(x) = result / 2^30 * 2^(shift - 31), x in [1, 2^62).
static inline uint32_t pl_rsqrt(uint64_t x, int32_t *shift) {
  *shift = (__builtin_clzll(x) - 2) >> 1;
  const uint32_t m = (uint32_t)((x << (2 * *shift)) >> 31);
  uint32_t y = ROOT_START - (uint32_t)(((uint64_t)ROOT_SLOPE * m) >> 31);
  for (int i = 0; i < ROOT_ITERATIONS; ++i) {
    const uint32_t square = (uint32_t)(((uint64_t)y * y) >> 30);
    const uint32_t error = (3u << 30) - (uint32_t)(((uint64_t)m * square) >> 31);
    y = (uint32_t)(((uint64_t)y * error) >> 31);
  }
  return y;
}

// x / 2^bits, rounded; bits in [1, 63].
static inline int64_t pl_rounded(int64_t x, int32_t bits) { return ((x >> (bits - 1)) + 1) >> 1; }

#endif  // KERNELS_NORMALIZE_RSQRT_H_
