// SPDX-License-Identifier: Apache-2.0
#include "kernels/adaptive_max_pool2d/adaptive_max_pool2d_s16.h"
#include "kernels/common/adaptive_pool_s16.h"

static inline int16_t largest(const int16_t *first, const pl_wide_window *window) {
  int16_t maximum = *first;
  for (int32_t row = 0; row < window->rows; ++row) {
    const int16_t *x = first + row * window->row_step;
    for (int32_t left = window->columns; left > 0; --left, x += window->column_step) {
      maximum = *x > maximum ? *x : maximum;
    }
  }
  return maximum;
}

pl_status pl_adaptive_max_pool2d_s16(const pl_context *ctx,
                                     const pl_adaptive_max_pool2d_s16_params *params,
                                     const pl_adaptive_max_pool2d_s16_dims *dims,
                                     const pl_adaptive_max_pool2d_s16_data *data) {
  (void)ctx;
  (void)params;
  pl_adaptive_pool_s16(dims, data->input, data->output, largest);
  return PL_OK;
}
