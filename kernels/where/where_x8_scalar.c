// SPDX-License-Identifier: Apache-2.0
#include "kernels/where/where.h"

#include <stdbool.h>

// Where a row starts; all zero is the first.
typedef struct {
  int32_t index[PL_MAX_RANK - 1];
  int32_t mask;
  int32_t a;
  int32_t b;
} position;

// Moves on to the next row, false behind the last.
static bool next_row(const pl_where_dims *dims, position *row) {
  for (int32_t d = PL_MAX_RANK - 2; d >= 0; --d) {
    row->mask += dims->mask_stride[d];
    row->a += dims->a_stride[d];
    row->b += dims->b_stride[d];
    if (++row->index[d] < dims->size[d]) return true;
    row->index[d] = 0;
    row->mask -= dims->mask_stride[d] * dims->size[d];
    row->a -= dims->a_stride[d] * dims->size[d];
    row->b -= dims->b_stride[d] * dims->size[d];
  }
  return false;
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
  position row = {0};
  do {
    const uint8_t *mask = data->mask + row.mask;
    const uint8_t *a = (const uint8_t *)data->a + row.a;
    const uint8_t *b = (const uint8_t *)data->b + row.b;
    for (int32_t left = size; left > 0; --left) {
      *output++ = *mask ? *a : *b;
      mask += mask_step;
      a += a_step;
      b += b_step;
    }
  } while (next_row(dims, &row));
  return PL_OK;
}
