// SPDX-License-Identifier: Apache-2.0
// The loops of adaptive int16 pooling: windows covering an NHWC image.
#ifndef KERNELS_COMMON_ADAPTIVE_POOL_S16_H_
#define KERNELS_COMMON_ADAPTIVE_POOL_S16_H_

#include "kernels/common/adaptive_pool_s8.h"
#include "kernels/common/pool_s16.h"

// Same as pl_adaptive_pool_s8; `pool` computes all channels of a window from its first tap.
PL_INLINE void pl_adaptive_pool_s16(const pl_adaptive_pool2d_dims *dims, const int16_t *input,
                                    int16_t *output,
                                    void (*pool)(const pl_wide_window *window, const int16_t *first,
                                                 int32_t channels, int16_t *output)) {
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
        pool(&window, first, channels, output);
        output += channels;
      }
    }
    input += dims->input_h * row_size;
  }
}

#endif  // KERNELS_COMMON_ADAPTIVE_POOL_S16_H_
