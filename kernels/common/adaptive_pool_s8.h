// SPDX-License-Identifier: Apache-2.0
// The loops of adaptive pooling: windows covering an NHWC image.
#ifndef KERNELS_COMMON_ADAPTIVE_POOL_S8_H_
#define KERNELS_COMMON_ADAPTIVE_POOL_S8_H_

#include "kernels/common/pool_s8.h"

typedef struct {
  int32_t batches;
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t output_h;
  int32_t output_w;
} pl_adaptive_pool2d_dims;

// Window i of an axis is [floor(i * input / output), ceil((i + 1) * input / output)).
static inline pl_taps pl_adaptive_taps(int32_t i, int32_t input, int32_t output) {
  const int32_t begin = i * input / output;
  return (pl_taps){begin, ((i + 1) * input + output - 1) / output - begin};
}

// Input is [batches, input_h, input_w, input_c], output [batches, output_h, output_w, input_c];
// `pool` computes the pixel of a window and is a constant where this is inlined.
static inline void pl_adaptive_pool_s8(const pl_adaptive_pool2d_dims *dims, const int8_t *input,
                                       int8_t *output,
                                       void (*pool)(const pl_pool_window *window, int8_t *output)) {
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  pl_pool_window window = {.row_step = row_bytes, .column_step = channels, .channels = channels};
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const pl_taps y = pl_adaptive_taps(oy, dims->input_h, dims->output_h);
      window.rows = y.count;
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const pl_taps x = pl_adaptive_taps(ox, dims->input_w, dims->output_w);
        window.columns = x.count;
        window.first = input + y.begin * row_bytes + x.begin * channels;
        pool(&window, output);
        output += channels;
      }
    }
    input += dims->input_h * row_bytes;
  }
}

#endif  // KERNELS_COMMON_ADAPTIVE_POOL_S8_H_
