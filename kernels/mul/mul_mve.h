// SPDX-License-Identifier: Apache-2.0
// A row of pl_mul_down_s8 and pl_mul_flat_s8 on vectors.
#ifndef KERNELS_MUL_MUL_MVE_H_
#define KERNELS_MUL_MUL_MVE_H_

#include <arm_mve.h>

#include "kernels/mul/mul.h"

#define PL_MUL_LANES 8
#define PL_MUL_INLINE static inline __attribute__((always_inline))

// requantize.h for shifts below 0.
PL_MUL_INLINE int32x4_t pl_mul_scaled(int32x4_t x, int32_t multiplier, int32_t shift) {
  const int32x4_t h = vqrdmulhq_n_s32(x, multiplier);
  return vrshlq_n_s32(vaddq_s32(h, vshrq_n_s32(h, 31)), shift);
}

// Differences of int8 are 16 bits, their products are widened.
PL_MUL_INLINE int16x8_t pl_mul_8(const pl_mul_params *params, int16x8_t x, int16x8_t y) {
  const int16x8_t a = vsubq_n_s16(x, (int16_t)params->a_zero_point);
  const int16x8_t b = vsubq_n_s16(y, (int16_t)params->b_zero_point);
  const int32x4_t even = pl_mul_scaled(vmullbq_int_s16(a, b), params->multiplier, params->shift);
  const int32x4_t odd = pl_mul_scaled(vmulltq_int_s16(a, b), params->multiplier, params->shift);
  int16x8_t z = vqmovntq_s32(vqmovnbq_s32(a, even), odd);
  z = vqaddq_n_s16(z, (int16_t)params->output_zero_point);
  z = vmaxq_s16(z, vdupq_n_s16((int16_t)params->activation_min));
  return vminq_s16(z, vdupq_n_s16((int16_t)params->activation_max));
}

// b_step is 1, or 0 where b is one value. The tail is not part of the loop: GCC would predicate all
// of it by lanes of 16 bits, products of 32 bits too.
PL_MUL_INLINE void pl_mul_row(const pl_mul_params *p, const int8_t *a, const int8_t *b,
                              int32_t b_step, int32_t size, int8_t *output) {
  const int16x8_t value = vdupq_n_s16(*b);
  for (int32_t blocks = size / PL_MUL_LANES; blocks > 0; --blocks) {
    const int16x8_t y = b_step == 0 ? value : vldrbq_s16(b);
    vstrbq_s16(output, pl_mul_8(p, vldrbq_s16(a), y));
    a += PL_MUL_LANES;
    b += PL_MUL_LANES * b_step;
    output += PL_MUL_LANES;
  }
  if (size % PL_MUL_LANES != 0) {
    const mve_pred16_t lanes = vctp16q((uint32_t)(size % PL_MUL_LANES));
    const int16x8_t y = b_step == 0 ? value : vldrbq_z_s16(b, lanes);
    vstrbq_p_s16(output, pl_mul_8(p, vldrbq_z_s16(a, lanes), y), lanes);
  }
}

#endif  // KERNELS_MUL_MUL_MVE_H_
