// SPDX-License-Identifier: Apache-2.0
// The windows of pl_conv2d_s16 and pl_conv2d_blocks_s16.
#ifndef KERNELS_CONV2D_WINDOWS_S16_H_
#define KERNELS_CONV2D_WINDOWS_S16_H_

#include "kernels/conv2d/conv2d_s16.h"

// Taps [begin, end) of a window along one dimension lie inside of the input.
typedef struct {
  int32_t begin;
  int32_t end;
} pl_conv2d_taps_s16;

static inline pl_conv2d_taps_s16 pl_conv2d_inside_s16(int32_t first, int32_t dilation,
                                                      int32_t kernel, int32_t size) {
  pl_conv2d_taps_s16 t = {0, kernel};
  while (t.begin < kernel && first + t.begin * dilation < 0) ++t.begin;
  while (t.end > t.begin && first + (t.end - 1) * dilation >= size) --t.end;
  return t;
}

// A window of one group: its taps inside, the first of them, and the steps from tap to tap.
typedef struct {
  pl_conv2d_taps_s16 rows;
  pl_conv2d_taps_s16 columns;
  const int16_t *first;
  int32_t row_step;
  int32_t column_step;
  int32_t kernel_w;
  int32_t depth;  // channels of a tap
} pl_conv2d_window_s16;

// Number of a channel's weights before the first tap inside.
static inline int32_t pl_conv2d_weights_before(const pl_conv2d_window_s16 *w) {
  return (w->rows.begin * w->kernel_w + w->columns.begin) * w->depth;
}

// Calls `convolve` for every pixel of the output, with the window of the first group. It is a
// constant where this is inlined.
PL_INLINE pl_status pl_conv2d_windows_s16(
    const pl_conv2d_s16_params *params, const pl_conv2d_s16_dims *dims,
    const pl_conv2d_s16_data *data,
    void (*convolve)(const pl_conv2d_s16_params *params, const pl_conv2d_s16_dims *dims,
                     const pl_conv2d_s16_data *data, const pl_conv2d_window_s16 *w,
                     int16_t *output)) {
  const int32_t row_size = dims->input_w * dims->input_c;
  const int16_t *image = data->input;
  int16_t *output = data->output;
  pl_conv2d_window_s16 w = {
      .row_step = params->dilation_h * row_size,
      .column_step = params->dilation_w * dims->input_c,
      .kernel_w = dims->kernel_w,
      .depth = dims->input_c / dims->groups,
  };
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      w.rows = pl_conv2d_inside_s16(y, params->dilation_h, dims->kernel_h, dims->input_h);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const int32_t x = ox * params->stride_w - params->pad_left;
        w.columns = pl_conv2d_inside_s16(x, params->dilation_w, dims->kernel_w, dims->input_w);
        w.first = image + (y + w.rows.begin * params->dilation_h) * row_size +
                  (x + w.columns.begin * params->dilation_w) * dims->input_c;
        convolve(params, dims, data, &w, output);
        output += dims->output_c;
      }
    }
    image += dims->input_h * row_size;
  }
  return PL_OK;
}

#endif  // KERNELS_CONV2D_WINDOWS_S16_H_
