// SPDX-License-Identifier: Apache-2.0
// Shared by log_softmax and logsumexp of int16 values.
#ifndef KERNELS_COMMON_WIDE_LOGARITHMS_H_
#define KERNELS_COMMON_WIDE_LOGARITHMS_H_

#include "kernels/common/log2.h"
#include "kernels/common/wide.h"
#include "kernels/common/wide_exponentials.h"

#define PL_WIDE_LOGARITHM_SHIFT 14
#define PL_WIDE_LOGARITHM_GUARD_BITS 10

// A difference of inputs in the output's steps, with guard bits; |value| <= 2^16.
static inline int64_t pl_wide_scaled_value(int32_t value, int32_t multiplier, int32_t shift) {
  return pl_wide_requantize((int64_t)value * (1 << PL_WIDE_LOGARITHM_SHIFT), multiplier, shift);
}

// The scaled logarithm of a sum of at most 2^16 exponentials, and of at least one.
static inline int64_t pl_wide_scaled_log(uint64_t sum, int32_t multiplier, int32_t shift) {
  const int32_t log_sum = pl_wide_log2_q16(sum) - (PL_WIDE_EXPONENTIAL_BITS << 16);
  return pl_wide_scaled_value(log_sum, multiplier, shift);
}

// Rounds guard bits away, to nearest, ties up.
static inline int16_t pl_without_guard_bits(int64_t value) {
  const int64_t half = 1 << (PL_WIDE_LOGARITHM_GUARD_BITS - 1);
  const int64_t result = (value + half) >> PL_WIDE_LOGARITHM_GUARD_BITS;
  return (int16_t)(result < INT16_MIN ? INT16_MIN : result > INT16_MAX ? INT16_MAX : result);
}

#endif  // KERNELS_COMMON_WIDE_LOGARITHMS_H_
