// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaptive_max_pool2d/adaptive_max_pool2d.h"

pl_status pl_adaptive_max_pool2d_s8(const pl_context *ctx,
                                    const pl_adaptive_max_pool2d_params *params,
                                    const pl_adaptive_max_pool2d_dims *dims,
                                    const pl_adaptive_max_pool2d_data *data) {
  (void)ctx;
  (void)params;
  pl_adaptive_pool_s8(dims, data->input, data->output, pl_max_window_s8);
  return PL_OK;
}
