// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add_mve.h"
#include "kernels/common/operands_mve.h"

static __attribute__((noinline)) void add_rows(const void *add_params, const pl_rows_s8 *of) {
  const pl_add_params *const params = add_params;
  const int swapped = of->b_step != 0 && params->b.shift == 0;
  const pl_add_scale a = pl_add_scale_of(swapped ? &params->b : &params->a, params->left_shift);
  const pl_add_scale b = pl_add_scale_of(swapped ? &params->a : &params->b, params->left_shift);
  const pl_add_stage to = pl_add_stage_of(params);
  const int8_t *x = swapped ? of->b : of->a;
  const int8_t *y = swapped ? of->a : of->b;
  const int32_t x_stride = swapped ? of->b_stride : of->a_stride;
  const int32_t y_stride = swapped ? of->a_stride : of->b_stride;
  int8_t *output = of->output;
  for (int32_t rows = of->rows; rows > 0; --rows) {
    pl_add_row(a, b, to, x, y, of->b_step, of->size, output);
    x += x_stride;
    y += y_stride;
    output += of->size;
  }
}

pl_status pl_add_down_s8(const pl_context *ctx, const pl_add_params *params,
                         const pl_add_dims *dims, const pl_add_data *data) {
  (void)ctx;
  pl_broadcast_rows_s8(dims, data->a, data->b, data->output, add_rows, params);
  return PL_OK;
}
