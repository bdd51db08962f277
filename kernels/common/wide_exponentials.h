// SPDX-License-Identifier: Apache-2.0
// Shared by softmax and masked_softmax of int16 values: exponentials of differences, and division
// by their sums.
#ifndef KERNELS_COMMON_WIDE_EXPONENTIALS_H_
#define KERNELS_COMMON_WIDE_EXPONENTIALS_H_

#include <stdint.h>

#define PL_WIDE_EXPONENTIAL_BITS 30
#define PL_WIDE_EXPONENTIAL_STEPS 256  // entries per table; the two tables are consecutive

// exp(-difference * input scale) with 30 fraction bits; difference in [0, 2^16).
static inline uint32_t pl_wide_exponential(const int32_t *exp_table, int32_t difference) {
  const uint64_t high = (uint32_t)exp_table[difference / PL_WIDE_EXPONENTIAL_STEPS];
  const uint64_t low =
      (uint32_t)exp_table[PL_WIDE_EXPONENTIAL_STEPS + difference % PL_WIDE_EXPONENTIAL_STEPS];
  return (uint32_t)((high * low + (1u << 29)) >> PL_WIDE_EXPONENTIAL_BITS);
}

// Factor and right shift that turn a row's exponentials into shares of 2^-15.
typedef struct {
  uint32_t reciprocal;
  int32_t shift;
} pl_wide_divisor;

// Divisor for a sum of at most 2^16 exponentials. The sum is at least 2^30.
static inline pl_wide_divisor pl_wide_divisor_of(uint64_t sum) {
  int32_t down = 0;
  while (sum >> down >= 1u << 31) ++down;
  const uint32_t m = (uint32_t)(sum >> down);
  // 2^61 / m, bit by bit: the core may not divide 64 bits.
  uint32_t rest = 1u << 30;
  uint32_t quotient = 0;
  for (int32_t bit = 0; bit < 32; ++bit) {
    quotient *= 2;
    if (rest >= m) {
      rest -= m;
      ++quotient;
    }
    rest *= 2;
  }
  return (pl_wide_divisor){quotient, 46 + down};
}

static inline int16_t pl_wide_share(uint32_t exponential, pl_wide_divisor divisor) {
  const uint64_t product = (uint64_t)exponential * divisor.reciprocal;
  const uint64_t share = (product + ((uint64_t)1 << (divisor.shift - 1))) >> divisor.shift;
  return (int16_t)(share > INT16_MAX ? INT16_MAX : share);
}

#endif  // KERNELS_COMMON_WIDE_EXPONENTIALS_H_
