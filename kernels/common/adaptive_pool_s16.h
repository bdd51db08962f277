// SPDX-License-Identifier: Apache-2.0
// The loops of adaptive pooling of int16: windows that cover an NHWC image.
#ifndef KERNELS_COMMON_ADAPTIVE_POOL_S16_H_
#define KERNELS_COMMON_ADAPTIVE_POOL_S16_H_

#include "kernels/common/adaptive_pool_s8.h"

typedef struct {
  int32_t rows;
  int32_t columns;
  int32_t row_step;     // elements
  int32_t column_step;  // elements
} pl_wide_window;

// As pl_adaptive_pool_s8; `pool` computes one channel of a window from its first tap.
static inline void pl_adaptive_pool_s16(const pl_adaptive_pool2d_dims *dims, const int16_t *input,
                                        int16_t *output,
                                        int16_t (*pool)(const int16_t *first,
                                                        const pl_wide_window *window)) {
  const int32_t channels = dims->input_c;
  const int32_t row_size = dims->input_w * channels;
  pl_wide_window window = {.row_step = row_size, .column_step = channels};
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_adaptive_taps(oy, dims->input_h, dims->output_h);
      window.rows = y.count;
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_taps x = pl_adaptive_taps(ox, dims->input_w, dims->output_w);
        window.columns = x.count;
        const int16_t *first = input + y.begin * row_size + x.begin * channels;
        for (int32_t c = 0; c < channels; ++c) *output++ = pool(first + c, &window);
      }
    }
    input += dims->input_h * row_size;
  }
}

#endif  // KERNELS_COMMON_ADAPTIVE_POOL_S16_H_
