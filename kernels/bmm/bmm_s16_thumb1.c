// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/bmm_s16.h"
#include "kernels/common/wide.h"

// A function of its own: with the loops below around it, GCC keeps its values in memory. A product
// fits in 32 bits.
static __attribute__((noinline)) int64_t dot(const int16_t *a, const int16_t *end, const int16_t *b,
                                             int32_t step) {
  int64_t sum = 0;
  for (; a != end; ++a, b += step) {
    const int32_t product = *a * *b;
    sum += product;
  }
  return sum;
}

pl_status pl_bmm_s16(const pl_context *ctx, const pl_bmm_s16_params *params,
                     const pl_bmm_s16_dims *dims, const pl_bmm_s16_data *data) {
  (void)ctx;
  int16_t *output = data->output;
  pl_broadcast_row batch = {0};
  do {
    const int16_t *row = data->a + batch.a;
    for (int32_t m = 0; m < dims->rows; ++m, row += dims->a_row_stride) {
      const int16_t *column = data->b + batch.b;
      for (int32_t n = 0; n < dims->columns; ++n, column += dims->b_column_stride) {
        const int64_t sum = dot(row, row + dims->depth, column, dims->b_depth_stride);
        *output++ = pl_wide_narrow(sum, params->multiplier, params->shift, params->activation_min,
                                   params->activation_max);
      }
    }
  } while (pl_broadcast_next(&dims->batch, &batch));
  return PL_OK;
}
