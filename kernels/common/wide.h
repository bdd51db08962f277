// SPDX-License-Identifier: Apache-2.0
// Sums of int16 activations times int8 weights, and how they become int16: they do not fit in 32
// bits.
#ifndef KERNELS_COMMON_WIDE_H_
#define KERNELS_COMMON_WIDE_H_

#include <stdint.h>

#include "kernels/common/product_high.h"

// sum + sum_i x[i] * weight[i] for i in [0, count).
int64_t pl_wide_dot(int64_t sum, const int16_t *x, const int8_t *weight, int32_t count);

// sum * multiplier / 2^31 * 2^shift, rounded once, to nearest, ties up; |sum| < 2^47, multiplier >=
// 0, shift in [-31, 14].
static inline int64_t pl_wide_requantize(int64_t sum, int32_t multiplier, int32_t shift) {
  // Multiply in two halves: the product may take 78 bits.
  const int64_t high = pl_product_64((int32_t)(sum >> 16), multiplier);
  const int64_t low = pl_product_64((int32_t)(sum & 0xFFFF), multiplier);
  const int32_t right = 15 - shift;
  return (high + (low >> 16) + ((int64_t)1 << (right - 1))) >> right;
}

// The same, clamped to [minimum, maximum].
static inline int16_t pl_wide_narrow(int64_t sum, int32_t multiplier, int32_t shift,
                                     int32_t minimum, int32_t maximum) {
  const int64_t value = pl_wide_requantize(sum, multiplier, shift);
  return (int16_t)(value < minimum ? minimum : value > maximum ? maximum : value);
}

// Same for a 32-bit sum and shift = -1 - right, right in [1, 30]. The bits below the product's high
// half cannot change the rounding.
static inline int32_t pl_wide_narrow_high(int32_t sum, int32_t multiplier, int32_t right,
                                          int32_t minimum, int32_t maximum) {
  const int32_t high = pl_product_high(sum, multiplier);
  const int32_t value = (high + (1 << (right - 1))) >> right;
  return value < minimum ? minimum : value > maximum ? maximum : value;
}

#endif  // KERNELS_COMMON_WIDE_H_
