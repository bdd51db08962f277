// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MEAN_NARROW_MVE_H_
#define KERNELS_MEAN_NARROW_MVE_H_

#include "kernels/common/requantize_mve.h"
#include "kernels/mean/mean.h"

// For factors that divide, as those of means do but of a few values.
static inline int32x4_t divide(const pl_mean_params *params, int32x4_t x) {
  return pl_requantize_down_mve(x, params->multiplier, params->shift);
}

// Narrowed in place: of the even and the odd channels the low halves stay. From intrinsics GCC
// copies.
static inline int16x8_t narrowed(const pl_mean_params *params, int32x4_t even, int32x4_t odd) {
  __asm__(
      "vqmovnb.s32 %q0, %q0\n\tvqmovnt.s32 %q0, %q1\n\tvqadd.s16 %q0, %q0, %2\n\t"
      "vqmovnb.s16 %q0, %q0"
      : "+&w"(even)
      : "w"(odd), "r"(params->output_zero_point));
  return vreinterpretq_s16_s32(even);
}

#endif  // KERNELS_MEAN_NARROW_MVE_H_
