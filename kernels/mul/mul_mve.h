// SPDX-License-Identifier: Apache-2.0
// A row of pl_mul_down_s8 and pl_mul_flat_s8 on vectors.
#ifndef KERNELS_MUL_MUL_MVE_H_
#define KERNELS_MUL_MUL_MVE_H_

#include "kernels/common/clamp_s8.h"
#include "kernels/common/requantize_mve.h"
#include "kernels/mul/mul.h"

#define PL_MUL_LANES 8
// Differences of int8 take 16 bits, and their products are widened. Results are saturated, in the
// low bytes.
PL_INLINE int16x8_t pl_mul_8(const pl_mul_params *params, int16x8_t x, int16x8_t y) {
  const int16x8_t a = vsubq_n_s16(x, (int16_t)params->a_zero_point);
  const int16x8_t b = vsubq_n_s16(y, (int16_t)params->b_zero_point);
  const int32x4_t even =
      pl_requantize_down_mve(vmullbq_int_s16(a, b), params->multiplier, params->shift);
  const int32x4_t odd =
      pl_requantize_down_mve(vmulltq_int_s16(a, b), params->multiplier, params->shift);
  int16x8_t z = vqmovntq_s32(vqmovnbq_s32(a, even), odd);
  z = vqaddq_n_s16(z, (int16_t)params->output_zero_point);
  return vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(z), z));
}

// b_step is 1, or 0 if b is one value. The tail is separate from the loop. Otherwise GCC would
// predicate all code by 16-bit lanes, including the 32-bit products.
PL_INLINE void pl_mul_row(const pl_mul_params *p, const int8_t *a, const int8_t *b, int32_t b_step,
                          int32_t size, int8_t *output) {
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

PL_INLINE void pl_mul_clamp(const pl_mul_params *params, int32_t size, int8_t *output) {
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(output, size, params->activation_min, params->activation_max);
  }
}

#endif  // KERNELS_MUL_MUL_MVE_H_
