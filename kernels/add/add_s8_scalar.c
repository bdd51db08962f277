// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add.h"
#include "kernels/common/requantize.h"

static inline int32_t scale(int32_t x, const pl_add_operand *operand, int32_t left_shift) {
  const int32_t shifted = (x - operand->zero_point) * (1 << left_shift);
  return pl_requantize(shifted, operand->multiplier, operand->shift);
}

static inline int8_t narrow(int32_t sum, const pl_add_params *params) {
  const pl_add_operand *output = &params->output;
  return pl_narrow(pl_requantize(sum, output->multiplier, output->shift), output->zero_point,
                   params->activation_min, params->activation_max);
}

static void add_rows(const pl_add_params *params, const int8_t *a, const int8_t *b, int32_t size,
                     int8_t *output) {
  // A copy, safe from stores to the output.
  const pl_add_params p = *params;
  for (int32_t i = 0; i < size; ++i) {
    output[i] = narrow(scale(a[i], &p.a, p.left_shift) + scale(b[i], &p.b, p.left_shift), &p);
  }
}

static void add_value(const pl_add_params *params, const int8_t *a, int8_t b, int32_t size,
                      int8_t *output) {
  const pl_add_params p = *params;
  const int32_t scaled_b = scale(b, &p.b, p.left_shift);
  for (int32_t i = 0; i < size; ++i) {
    output[i] = narrow(scale(a[i], &p.a, p.left_shift) + scaled_b, &p);
  }
}

pl_status pl_add_s8(const pl_context *ctx, const pl_add_params *params, const pl_add_dims *dims,
                    const pl_add_data *data) {
  (void)ctx;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    if (b_step == 0) {
      add_value(params, data->a + row.a, data->b[row.b], size, output);
    } else {
      add_rows(params, data->a + row.a, data->b + row.b, size, output);
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
