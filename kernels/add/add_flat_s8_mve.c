// SPDX-License-Identifier: Apache-2.0
#include "kernels/add/add_mve.h"

pl_status pl_add_flat_s8(const pl_context *ctx, const pl_add_params *params,
                         const pl_add_dims *dims, const pl_add_data *data) {
  (void)ctx;
  const int32_t y_step = dims->b_stride[PL_BROADCAST_DIMS - 1];
  const pl_add_operand *first = &params->a;
  const pl_add_operand *second = &params->b;
  const int8_t *x = data->a;
  const int8_t *y = data->b;
  if (y_step != 0 && second->shift == 0) {
    first = &params->b;
    second = &params->a;
    x = data->b;
    y = data->a;
  }
  pl_add_row(pl_add_scale_of(first, params->left_shift),
             pl_add_scale_of(second, params->left_shift), pl_add_stage_of(params), x, y, y_step,
             dims->size[PL_BROADCAST_DIMS - 1], data->output);
  return PL_OK;
}
