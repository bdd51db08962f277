// SPDX-License-Identifier: Apache-2.0
// 32-bit sums of eight channels, and their conversion to int8 by one factor.
#ifndef KERNELS_COMMON_NARROW_MVE_H_
#define KERNELS_COMMON_NARROW_MVE_H_

#include "kernels/common/requantize_mve.h"

typedef struct {
  int32_t multiplier;
  int32_t shift;
  int32_t zero_point;  // of the output
} pl_scale_mve;

// Sums of the even and the odd channels.
typedef struct {
  int32x4_t even;
  int32x4_t odd;
} pl_sums_mve;

static inline pl_sums_mve pl_widen_mve(pl_sums_mve sums, int16x8_t sum) {
  return (pl_sums_mve){vaddq_s32(sums.even, vmovlbq_s16(sum)),
                       vaddq_s32(sums.odd, vmovltq_s16(sum))};
}

// Results in the low bytes. Narrowed in place: the low halves of the even and the odd channels
// stay. For intrinsics GCC makes copies.
static inline int16x8_t pl_narrow_sums_mve(pl_sums_mve sums, int32_t zero_point) {
  __asm__(
      "vqmovnb.s32 %q0, %q0\n\tvqmovnt.s32 %q0, %q1\n\tvqadd.s16 %q0, %q0, %2\n\t"
      "vqmovnb.s16 %q0, %q0"
      : "+&w"(sums.even)
      : "w"(sums.odd), "r"(zero_point));
  return vreinterpretq_s16_s32(sums.even);
}

// For factors that divide; those of means do, except for a few values.
static inline int16x8_t pl_scale_down_mve(pl_sums_mve sums, pl_scale_mve by) {
  sums.even = pl_requantize_down_mve(sums.even, by.multiplier, by.shift);
  sums.odd = pl_requantize_down_mve(sums.odd, by.multiplier, by.shift);
  return pl_narrow_sums_mve(sums, by.zero_point);
}

static inline int16x8_t pl_scale_sums_mve(pl_sums_mve sums, pl_scale_mve by) {
  if (by.shift < 0) return pl_scale_down_mve(sums, by);
  const pl_factors_mve factors = pl_same_factors_mve(by.multiplier, by.shift);
  sums.even = pl_requantize_mve(sums.even, factors);
  sums.odd = pl_requantize_mve(sums.odd, factors);
  return pl_narrow_sums_mve(sums, by.zero_point);
}

#endif  // KERNELS_COMMON_NARROW_MVE_H_
