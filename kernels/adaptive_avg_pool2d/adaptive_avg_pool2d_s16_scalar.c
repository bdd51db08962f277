// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaptive_avg_pool2d/adaptive_avg_pool2d_s16.h"
#include "kernels/common/adaptive_pool_s16.h"

static inline void average(const pl_wide_window *window, const int16_t *first, int32_t channels,
                           int16_t *output) {
  pl_average_window_s16(window, first, channels, window->rows * window->columns, output);
}

pl_status pl_adaptive_avg_pool2d_s16(const pl_context *ctx,
                                     const pl_adaptive_avg_pool2d_s16_params *params,
                                     const pl_adaptive_avg_pool2d_s16_dims *dims,
                                     const pl_adaptive_avg_pool2d_s16_data *data) {
  (void)ctx;
  (void)params;
  pl_adaptive_pool_s16(dims, data->input, data->output, average);
  return PL_OK;
}
