// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/where/where_loop.h"

#define LANES 16

// In a row an operand is contiguous, or one value.
static inline uint8x16_t load(const uint8_t *x, int32_t step, mve_pred16_t lanes) {
  return step == 0 ? vdupq_n_u8(*x) : vldrbq_z_u8(x, lanes);
}

pl_status pl_where_x8(const pl_context *ctx, const pl_where_params *params,
                      const pl_where_dims *dims, const pl_where_data *data) {
  (void)ctx;
  (void)params;
  const int32_t size = dims->size[PL_MAX_RANK - 1];
  const int32_t mask_step = dims->mask_stride[PL_MAX_RANK - 1];
  const int32_t a_step = dims->a_stride[PL_MAX_RANK - 1];
  const int32_t b_step = dims->b_stride[PL_MAX_RANK - 1];
  uint8_t *output = data->output;
  pl_where_row row = {0};
  do {
    const uint8_t *mask = data->mask + row.mask;
    const uint8_t *a = (const uint8_t *)data->a + row.a;
    const uint8_t *b = (const uint8_t *)data->b + row.b;
    for (int32_t left = size; left > 0; left -= LANES) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      const mve_pred16_t first = vcmpneq_n_u8(load(mask, mask_step, lanes), 0);
      const uint8x16_t x = load(a, a_step, lanes);
      vstrbq_p_u8(output, vpselq_u8(x, load(b, b_step, lanes), first), lanes);
      mask += mask_step * LANES;
      a += a_step * LANES;
      b += b_step * LANES;
      output += left < LANES ? left : LANES;
    }
  } while (pl_where_next(dims, &row));
  return PL_OK;
}
