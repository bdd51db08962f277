// SPDX-License-Identifier: Apache-2.0
#include "kernels/mul/mul_mve.h"

pl_status pl_mul_flat_s8(const pl_context *ctx, const pl_mul_params *params,
                         const pl_mul_dims *dims, const pl_mul_data *data) {
  (void)ctx;
  const pl_mul_params p = *params;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  if (dims->b_stride[PL_BROADCAST_DIMS - 1] == 0) {
    pl_mul_row(&p, data->a, data->b, 0, size, data->output);
  } else {
    pl_mul_row(&p, data->a, data->b, 1, size, data->output);
  }
  pl_mul_clamp(params, size, data->output);
  return PL_OK;
}
