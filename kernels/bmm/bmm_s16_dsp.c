// SPDX-License-Identifier: Apache-2.0
#include "kernels/bmm/bmm_s16.h"
#include "kernels/common/dsp.h"
#include "kernels/common/wide.h"

// SMLALD adds two products to 64 bits. Values of b that are not contiguous are packed first.
static int64_t multiply(const int16_t *a, const int16_t *b, int32_t step, int32_t depth) {
  int64_t sum = 0;
  const int16_t *end = a + (depth & ~3);
  if (step == 1) {
    for (; a != end; a += 4, b += 4) {
      sum = __smlald(pl_load_2(a), pl_load_2(b), sum);
      sum = __smlald(pl_load_2(a + 2), pl_load_2(b + 2), sum);
    }
  } else {
    for (; a != end; a += 4, b += 4 * step) {
      const uint32_t first = (uint16_t)b[0] | (uint32_t)b[step] << 16;
      const uint32_t second = (uint16_t)b[2 * step] | (uint32_t)b[3 * step] << 16;
      sum = __smlald(pl_load_2(a), (int16x2_t)first, sum);
      sum = __smlald(pl_load_2(a + 2), (int16x2_t)second, sum);
    }
  }
  for (end += depth & 3; a != end; b += step) sum += (int64_t)*a++ * *b;
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
