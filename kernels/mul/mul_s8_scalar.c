// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/mul/mul.h"

static inline int8_t narrow(int32_t product, const pl_mul_params *params) {
  return pl_narrow(pl_requantize(product, params->multiplier, params->shift),
                   params->output_zero_point, params->activation_min, params->activation_max);
}

static void multiply_rows(const pl_mul_params *params, const int8_t *a, const int8_t *b,
                          int32_t size, int8_t *output) {
  // A copy, safe from stores to the output.
  const pl_mul_params p = *params;
  for (int32_t i = 0; i < size; ++i) {
    output[i] = narrow((a[i] - p.a_zero_point) * (b[i] - p.b_zero_point), &p);
  }
}

static void multiply_by_value(const pl_mul_params *params, const int8_t *a, int8_t b, int32_t size,
                              int8_t *output) {
  const pl_mul_params p = *params;
  const int32_t factor = b - p.b_zero_point;
  for (int32_t i = 0; i < size; ++i) {
    output[i] = narrow((a[i] - p.a_zero_point) * factor, &p);
  }
}

pl_status pl_mul_s8(const pl_context *ctx, const pl_mul_params *params, const pl_mul_dims *dims,
                    const pl_mul_data *data) {
  (void)ctx;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  const int32_t b_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    if (b_step == 0) {
      multiply_by_value(params, data->a + row.a, data->b[row.b], size, output);
    } else {
      multiply_rows(params, data->a + row.a, data->b + row.b, size, output);
    }
    output += size;
  } while (pl_broadcast_next(dims, &row));
  return PL_OK;
}
