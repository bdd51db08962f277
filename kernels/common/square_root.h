// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_COMMON_SQUARE_ROOT_H_
#define KERNELS_COMMON_SQUARE_ROOT_H_

#include <stdint.h>

// floor(sqrt(x)): the upper half of its bits one by one, the lower half by one division.
//
// x is normalized to 2^62 or above, and is high * 2^32 + a * 2^16 + b. root is floor(sqrt(high)),
// and rest = high - root^2. The result is then root * 2^16 + q with q = floor((rest * 2^16 + a) /
// (2 * root)), or one less. It is one less if the division's remainder, times 2^16 plus b, is below
// q^2. rest <= 2 * root < 2^17, so half of the numerator fits 32 bits.
static inline uint32_t pl_square_root(uint64_t x) {
  if (x == 0) return 0;
  uint32_t shift = 0;
  for (; x >> 62 == 0; x <<= 2) ++shift;
  uint32_t rest = (uint32_t)(x >> 32);
  uint32_t root = 0;
  for (uint32_t bit = 1U << 30; bit != 0; bit >>= 2) {
    const uint32_t larger = root + bit;
    root >>= 1;
    if (rest >= larger) {
      rest -= larger;
      root += bit;
    }
  }
  const uint32_t low = (uint32_t)x;
  const uint32_t half = rest << 15 | low >> 17;
  const uint32_t quotient = half / root;
  const uint32_t left = 2 * (half - quotient * root) + (low >> 16 & 1);
  const int is_larger = ((uint64_t)left << 16 | (low & 0xFFFF)) < (uint64_t)quotient * quotient;
  return ((root << 16) + quotient - (uint32_t)is_larger) >> shift;
}

#endif  // KERNELS_COMMON_SQUARE_ROOT_H_
