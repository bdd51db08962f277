// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaptive_max_pool2d/adaptive_max_pool2d_s16.h"
#include "kernels/common/adaptive_pool_s16.h"

pl_status pl_adaptive_max_pool2d_s16(const pl_context *ctx,
                                     const pl_adaptive_max_pool2d_s16_params *params,
                                     const pl_adaptive_max_pool2d_s16_dims *dims,
                                     const pl_adaptive_max_pool2d_s16_data *data) {
  (void)ctx;
  (void)params;
  pl_adaptive_pool_s16(dims, data->input, data->output, pl_max_window_s16);
  return PL_OK;
}
