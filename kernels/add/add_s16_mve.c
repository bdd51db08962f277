// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add_s16.h"
#include "kernels/common/operands_mve.h"
#include "kernels/common/requantize_mve.h"

#define LANES 4

// Kept in core registers: three factors in vectors would need more vector registers than exist.
typedef struct {
  int32_t multiplier;
  int32_t left;
  int32_t right;
} scale;

// The initial left shift is part of `left`: no bits are lost in between.
static inline scale scale_of(const pl_add_operand *of, int32_t left_shift) {
  return (scale){
      .multiplier = of->multiplier,
      .left = left_shift + (of->shift > 0 ? of->shift : 0),
      .right = of->shift < 0 ? of->shift : 0,
  };
}

// Same as pl_requantize_mve.
static inline int32x4_t scaled(int32x4_t x, scale by) {
  const int32x4_t high = vqrdmulhq_n_s32(vqshlq_r_s32(x, by.left), by.multiplier);
  const int32x4_t below_zero = vshrq_n_s32(vandq_s32(high, vdupq_n_s32(by.right)), 31);
  return vrshlq_n_s32(vaddq_s32(high, below_zero), by.right);
}

pl_status pl_add_s16(const pl_context *ctx, const pl_add_s16_params *params,
                     const pl_add_s16_dims *dims, const pl_add_s16_data *data) {
  (void)ctx;
  const scale of_a = scale_of(&params->a, params->left_shift);
  const scale of_b = scale_of(&params->b, params->left_shift);
  const scale of_sum = scale_of(&params->output, 0);
  const int32x4_t minimum = vdupq_n_s32(params->activation_min);
  const int32x4_t maximum = vdupq_n_s32(params->activation_max);
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int16_t repeated[8];
  int16_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int16_t *a = data->a + row.a;
    const int16_t *b = pl_row_s16(data->b + row.b, b_step, repeated);
    int16_t *y = output;
    for (int32_t left = size; left > 0; left -= LANES) {
      const mve_pred16_t lanes = vctp32q((uint32_t)left);
      const int32x4_t scaled_a = scaled(vldrhq_z_s32(a, lanes), of_a);
      const int32x4_t scaled_b = scaled(vldrhq_z_s32(b, lanes), of_b);
      const int32x4_t sum = scaled(vaddq_s32(scaled_a, scaled_b), of_sum);
      vstrhq_p_s32(y, vminq_s32(vmaxq_s32(sum, minimum), maximum), lanes);
      a += LANES;
      b += LANES * b_step;
      y += LANES;
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
