// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer/integer.h"

pl_status pl_integer_place(const pl_context *ctx, const pl_integer_params *params,
                           const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  const uint32_t rows = (uint32_t)params->rows;
  const uint32_t columns = (uint32_t)params->columns;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t a_step = dims->a_stride[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int32_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int32_t *a = data->a + row.a;
    const int32_t *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, a += a_step, b += b_step) {
      // Negative values are too large as unsigned values.
      const uint32_t r = (uint32_t)*a;
      const uint32_t c = (uint32_t)*b;
      *output++ = r < rows && c < columns ? (int32_t)(r * columns + c) : -1;
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
