// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/operands_mve.h"
#include "kernels/mul/mul_mve.h"

PL_INLINE void multiply(const pl_mul_params *params, const pl_rows_s8 *of, int32_t b_step) {
  const pl_mul_params p = *params;
  const int8_t *a = of->a;
  const int8_t *b = of->b;
  int8_t *output = of->output;
  for (int32_t rows = of->rows; rows > 0; --rows) {
    pl_mul_row(&p, a, b, b_step, of->size, output);
    a += of->a_stride;
    b += of->b_stride;
    output += of->size;
  }
}

static __attribute__((noinline)) void multiply_rows(const void *params, const pl_rows_s8 *rows) {
  if (rows->b_step == 0) {
    multiply(params, rows, 0);
  } else {
    multiply(params, rows, 1);
  }
  pl_mul_clamp(params, rows->rows * rows->size, rows->output);
}

pl_status pl_mul_down_s8(const pl_context *ctx, const pl_mul_params *params,
                         const pl_mul_dims *dims, const pl_mul_data *data) {
  (void)ctx;
  pl_broadcast_rows_s8(dims, data->a, data->b, data->output, multiply_rows, params);
  return PL_OK;
}
