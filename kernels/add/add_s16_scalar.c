// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add_s16.h"
#include "kernels/common/requantize.h"

static inline int32_t scale(int32_t x, const pl_add_operand *operand, int32_t left_shift) {
  return pl_requantize(x * (1 << left_shift), operand->multiplier, operand->shift);
}

pl_status pl_add_s16(const pl_context *ctx, const pl_add_s16_params *params,
                     const pl_add_s16_dims *dims, const pl_add_s16_data *data) {
  (void)ctx;
  // A copy, safe from stores to the output.
  const pl_add_params p = *params;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int16_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const int16_t *a = data->a + row.a;
    const int16_t *b = data->b + row.b;
    for (int32_t left = size; left > 0; --left, b += b_step) {
      const int32_t sum = scale(*a++, &p.a, p.left_shift) + scale(*b, &p.b, p.left_shift);
      const int32_t value = pl_requantize(sum, p.output.multiplier, p.output.shift);
      *output++ = (int16_t)pl_clamp(value, p.activation_min, p.activation_max);
    }
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
