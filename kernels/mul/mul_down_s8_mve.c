// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/mul/mul.h"

#define LANES 8

// requantize.h for shifts below 0.
static inline int32x4_t requantize(int32x4_t x, int32_t multiplier, int32_t shift) {
  const int32x4_t h = vqrdmulhq_n_s32(x, multiplier);
  return vrshlq_n_s32(vaddq_s32(h, vshrq_n_s32(h, 31)), shift);
}

// Differences of int8 are 16 bits, their products are widened.
static inline int16x8_t multiply_8(const pl_mul_params *params, int16x8_t x, int16x8_t y) {
  const int16x8_t a = vsubq_n_s16(x, (int16_t)params->a_zero_point);
  const int16x8_t b = vsubq_n_s16(y, (int16_t)params->b_zero_point);
  const int32x4_t even = requantize(vmullbq_int_s16(a, b), params->multiplier, params->shift);
  const int32x4_t odd = requantize(vmulltq_int_s16(a, b), params->multiplier, params->shift);
  int16x8_t z = vqmovntq_s32(vqmovnbq_s32(a, even), odd);
  z = vqaddq_n_s16(z, (int16_t)params->output_zero_point);
  z = vmaxq_s16(z, vdupq_n_s16((int16_t)params->activation_min));
  return vminq_s16(z, vdupq_n_s16((int16_t)params->activation_max));
}

// b_step is 1, or 0 where b is one value. The tail is not part of the loop: GCC would predicate all
// of it by lanes of 16 bits, products of 32 bits too.
static inline __attribute__((always_inline)) void multiply(const pl_mul_params *params,
                                                           const int8_t *a, const int8_t *b,
                                                           int32_t size, int8_t *output,
                                                           int b_step) {
  const pl_mul_params p = *params;
  const int16x8_t value = vdupq_n_s16(*b);
  for (int32_t blocks = size / LANES; blocks > 0; --blocks) {
    const int16x8_t y = b_step == 0 ? value : vldrbq_s16(b);
    vstrbq_s16(output, multiply_8(&p, vldrbq_s16(a), y));
    a += LANES;
    b += LANES * b_step;
    output += LANES;
  }
  if (size % LANES != 0) {
    const mve_pred16_t lanes = vctp16q((uint32_t)(size % LANES));
    const int16x8_t y = b_step == 0 ? value : vldrbq_z_s16(b, lanes);
    vstrbq_p_s16(output, multiply_8(&p, vldrbq_z_s16(a, lanes), y), lanes);
  }
}

pl_status pl_mul_down_s8(const pl_context *ctx, const pl_mul_params *params,
                         const pl_mul_dims *dims, const pl_mul_data *data) {
  (void)ctx;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    if (b_step == 0) {
      multiply(params, data->a + row.a, data->b + row.b, size, output, 0);
    } else {
      multiply(params, data->a + row.a, data->b + row.b, size, output, 1);
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
