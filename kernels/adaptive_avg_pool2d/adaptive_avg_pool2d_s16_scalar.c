// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaptive_avg_pool2d/adaptive_avg_pool2d_s16.h"
#include "kernels/common/adaptive_pool_s16.h"

static inline int16_t average(const int16_t *first, const pl_wide_window *window) {
  int32_t sum = 0;
  for (int32_t row = 0; row < window->rows; ++row) {
    const int16_t *x = first + row * window->row_step;
    for (int32_t left = window->columns; left > 0; --left, x += window->column_step) sum += *x;
  }
  const int32_t count = window->rows * window->columns;
  const int32_t half = count / 2;
  return (int16_t)((sum < 0 ? sum - half : sum + half) / count);
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
