// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/bmm/bmm_s16.h"
#include "kernels/common/wide.h"

#define LANES 8

// Offsets of eight values of a column, in bytes, are 16 bits.
#define MOST_STEP (UINT16_MAX / 2 / (LANES - 1))

// VMLALDAVA adds eight products to 64 bits. Values of b that are not contiguous use gather loads.
static int64_t multiply(const int16_t *a, const int16_t *b, int32_t step, int32_t depth) {
  int64_t sum = 0;
  if (step == 1) {
    for (; depth > 0; depth -= LANES) {
      const mve_pred16_t lanes = vctp16q((uint32_t)depth);
      sum = vmlaldavaq_p_s16(sum, vldrhq_z_s16(a, lanes), vldrhq_z_s16(b, lanes), lanes);
      a += LANES;
      b += LANES;
    }
  } else if (step <= MOST_STEP) {
    const uint16x8_t offsets = vmulq_n_u16(vidupq_n_u16(0, 1), (uint16_t)step);
    for (; depth > 0; depth -= LANES) {
      const mve_pred16_t lanes = vctp16q((uint32_t)depth);
      const int16x8_t column = vldrhq_gather_shifted_offset_z_s16(b, offsets, lanes);
      sum = vmlaldavaq_p_s16(sum, vldrhq_z_s16(a, lanes), column, lanes);
      a += LANES;
      b += LANES * step;
    }
  } else {
    for (; depth > 0; --depth, b += step) sum += (int64_t)*a++ * *b;
  }
  return sum;
}

pl_status pl_bmm_s16(const pl_context *ctx, const pl_bmm_s16_params *params,
                     const pl_bmm_s16_dims *dims, const pl_bmm_s16_data *data) {
  (void)ctx;
  const pl_bmm_params p = *params;
  int16_t *output = data->output;
  pl_broadcast_row batch = {0};
  do {
    const int16_t *row = data->a + batch.a;
    for (int32_t m = 0; m < dims->rows; ++m, row += dims->a_row_stride) {
      const int16_t *column = data->b + batch.b;
      for (int32_t n = 0; n < dims->columns; ++n, column += dims->b_column_stride) {
        const int64_t sum = multiply(row, column, dims->b_depth_stride, dims->depth);
        *output++ = pl_wide_narrow(sum, p.multiplier, p.shift, p.activation_min, p.activation_max);
      }
    }
  } while (pl_broadcast_next(&dims->batch, &batch));
  return PL_OK;
}
