// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/operands_mve.h"
#include "kernels/common/requantize_mve.h"
#include "kernels/mul/mul_s16.h"

#define LANES 8

typedef struct {
  pl_factors_mve factors;
  int16x8_t minimum;
  int16x8_t maximum;
} stage;

static inline int16x8_t multiply(const stage *to, int16x8_t a, int16x8_t b) {
  const int32x4_t even = pl_requantize_mve(vmullbq_int_s16(a, b), to->factors);
  const int32x4_t odd = pl_requantize_mve(vmulltq_int_s16(a, b), to->factors);
  const int16x8_t y = vqmovntq_s32(vqmovnbq_s32(a, even), odd);
  return vminq_s16(vmaxq_s16(y, to->minimum), to->maximum);
}

pl_status pl_mul_s16(const pl_context *ctx, const pl_mul_s16_params *params,
                     const pl_mul_s16_dims *dims, const pl_mul_s16_data *data) {
  (void)ctx;
  const stage to = {
      .factors = pl_same_factors_mve(params->multiplier, params->shift),
      .minimum = vdupq_n_s16((int16_t)params->activation_min),
      .maximum = vdupq_n_s16((int16_t)params->activation_max),
  };
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  // The tail is separate from the loop. Otherwise GCC would predicate all code by 16-bit lanes,
  // including the 32-bit products.
  const mve_pred16_t lanes = vctp16q((uint32_t)(size % LANES));
  int16_t repeated[LANES];
  int16_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int16_t *a = data->a + row.a;
    const int16_t *b = pl_row_s16(data->b + row.b, b_step, repeated);
    for (int32_t blocks = size / LANES; blocks > 0; --blocks) {
      vstrhq_s16(output, multiply(&to, vldrhq_s16(a), vldrhq_s16(b)));
      a += LANES;
      b += LANES * b_step;
      output += LANES;
    }
    if (size % LANES != 0) {
      vstrhq_p_s16(output, multiply(&to, vldrhq_z_s16(a, lanes), vldrhq_z_s16(b, lanes)), lanes);
      output += size % LANES;
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
