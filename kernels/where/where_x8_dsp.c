// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/where/where_loop.h"

// Within a row an operand is contiguous, or one value.
static inline uint32_t load(const uint8_t *x, int32_t step) {
  return step == 0 ? *x * 0x01010101U : (uint32_t)pl_load_4((const int8_t *)x);
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
    for (const uint8_t *end = output + (size & ~3); output != end; output += 4) {
      const uint32_t four = pl_choose_4(load(mask, mask_step), load(a, a_step), load(b, b_step));
      __builtin_memcpy(output, &four, 4);
      mask += 4 * mask_step;
      a += 4 * a_step;
      b += 4 * b_step;
    }
    for (int32_t left = size & 3; left > 0; --left) {
      *output++ = *mask ? *a : *b;
      mask += mask_step;
      a += a_step;
      b += b_step;
    }
  } while (pl_where_next(dims, &row));
  return PL_OK;
}
