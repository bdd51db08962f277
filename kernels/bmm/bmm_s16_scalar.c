// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/bmm_s16.h"
#include "kernels/common/wide.h"

pl_status pl_bmm_s16(const pl_context *ctx, const pl_bmm_s16_params *params,
                     const pl_bmm_s16_dims *dims, const pl_bmm_s16_data *data) {
  (void)ctx;
  const pl_bmm_params p = *params;
  const int32_t step = dims->b_depth_stride;
  int16_t *output = data->output;
  pl_broadcast_row batch = {0};
  do {
    const int16_t *row = data->a + batch.a;
    for (int32_t m = 0; m < dims->rows; ++m, row += dims->a_row_stride) {
      const int16_t *end = row + dims->depth;
      const int16_t *column = data->b + batch.b;
      for (int32_t n = 0; n < dims->columns; ++n, column += dims->b_column_stride) {
        const int16_t *b = column;
        int64_t sum = 0;
        for (const int16_t *a = row; a != end; ++a, b += step) sum += (int64_t)*a * *b;
        *output++ = pl_wide_narrow(sum, p.multiplier, p.shift, p.activation_min, p.activation_max);
      }
    }
  } while (pl_broadcast_next(&dims->batch, &batch));
  return PL_OK;
}
