// SPDX-License-Identifier: Apache-2.0
#include "kernels/where/where_loop.h"

pl_status pl_where_x32(const pl_context *ctx, const pl_where_params *params,
                       const pl_where_dims *dims, const pl_where_data *data) {
  (void)ctx;
  (void)params;
  const int32_t size = dims->size[PL_MAX_RANK - 1];
  const int32_t mask_step = dims->mask_stride[PL_MAX_RANK - 1];
  const int32_t a_step = dims->a_stride[PL_MAX_RANK - 1];
  const int32_t b_step = dims->b_stride[PL_MAX_RANK - 1];
  uint32_t *output = data->output;
  pl_where_row row = {0};
  do {
    const uint8_t *mask = data->mask + row.mask;
    const uint32_t *a = (const uint32_t *)data->a + row.a;
    const uint32_t *b = (const uint32_t *)data->b + row.b;
    for (int32_t left = size; left > 0; --left) {
      *output++ = *mask ? *a : *b;
      mask += mask_step;
      a += a_step;
      b += b_step;
    }
  } while (pl_where_next(dims, &row));
  return PL_OK;
}
