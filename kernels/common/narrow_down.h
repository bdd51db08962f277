// SPDX-License-Identifier: Apache-2.0
// requantize.h for factors that divide, in one product: SMMLAR with the DSP extension, SMLAL
// without.
#ifndef KERNELS_COMMON_NARROW_DOWN_H_
#define KERNELS_COMMON_NARROW_DOWN_H_

#include "kernels/common/requantize.h"

#ifdef __ARM_FEATURE_DSP
#include "kernels/common/dsp.h"
#else
// Same as in dsp.h.
static inline int32_t pl_add_product_high(int32_t start, int32_t x, int32_t multiplier) {
  return pl_add_rounded_product_high(start, x, multiplier);
}
#endif

// requantize(sum) + zero_point where pl_requantize_down is exact, or the sum is -2^30.
static inline int32_t pl_scale_down(int32_t sum, int32_t multiplier, int32_t right,
                                    int32_t twice_zero_point_and_1) {
  const int32_t start = twice_zero_point_and_1 * (1 << right) + (sum >> 31);
  return pl_add_product_high(start, sum * 2, multiplier) >> right >> 1;
}

// The same, saturated to int8.
static inline int8_t pl_narrow_down(int32_t sum, int32_t multiplier, int32_t right,
                                    int32_t twice_zero_point_and_1) {
  return (int8_t)PL_SATURATE(pl_scale_down(sum, multiplier, right, twice_zero_point_and_1), 8);
}

// Narrows to int16, with zero point 0.
static inline int16_t pl_narrow_down_s16(int32_t sum, int32_t multiplier, int32_t right) {
  return (int16_t)PL_SATURATE(pl_scale_down(sum, multiplier, right, 1), 16);
}

#endif  // KERNELS_COMMON_NARROW_DOWN_H_
