// SPDX-License-Identifier: Apache-2.0
// The windows of pl_depthwise_conv2d_s16, for its variants.
#ifndef KERNELS_DEPTHWISE_CONV2D_WINDOWS_S16_H_
#define KERNELS_DEPTHWISE_CONV2D_WINDOWS_S16_H_

#include "kernels/depthwise_conv2d/depthwise_conv2d_s16.h"

// The taps of a window that are inside of the input, all others are 0.
typedef struct {
  const int16_t *first;
  const int8_t *weight;  // of the first
  int32_t rows;
  int32_t columns;
  int32_t row_step;     // of the input
  int32_t column_step;  // likewise
  int32_t weight_step;  // of the weights, from row to row
} pl_window_s16;

typedef struct {
  int32_t begin;
  int32_t count;
} pl_inside_s16;

static inline pl_inside_s16 pl_inside_of(int32_t first, int32_t dilation, int32_t kernel,
                                         int32_t size) {
  int32_t begin = 0;
  while (begin < kernel && first + begin * dilation < 0) ++begin;
  while (kernel > begin && first + (kernel - 1) * dilation >= size) --kernel;
  return (pl_inside_s16){begin, kernel - begin};
}

// Calls convolve for every pixel of the output.
PL_INLINE pl_status pl_depthwise_windows_s16(
    const pl_depthwise_conv2d_s16_params *params, const pl_depthwise_conv2d_s16_dims *dims,
    const pl_depthwise_conv2d_s16_data *data,
    void (*convolve)(const pl_depthwise_conv2d_s16_params *params, int32_t channels,
                     const pl_depthwise_conv2d_s16_data *data, const pl_window_s16 *window,
                     int16_t *output)) {
  const int32_t channels = dims->input_c;
  const int32_t row_size = dims->input_w * channels;
  const int16_t *image = data->input;
  int16_t *output = data->output;
  pl_window_s16 window = {
      .row_step = params->dilation_h * row_size,
      .column_step = params->dilation_w * channels,
      .weight_step = dims->kernel_w * channels,
  };
  for (int32_t batch = 0; batch < dims->batches; ++batch, image += dims->input_h * row_size) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      const pl_inside_s16 rows = pl_inside_of(y, params->dilation_h, dims->kernel_h, dims->input_h);
      for (int32_t ox = 0; ox < dims->output_w; ++ox, output += channels) {
        const int32_t x = ox * params->stride_w - params->pad_left;
        const pl_inside_s16 columns =
            pl_inside_of(x, params->dilation_w, dims->kernel_w, dims->input_w);
        window.rows = rows.count;
        window.columns = columns.count;
        window.first = image + (y + rows.begin * params->dilation_h) * row_size +
                       (x + columns.begin * params->dilation_w) * channels;
        window.weight = data->weight + (rows.begin * dims->kernel_w + columns.begin) * channels;
        convolve(params, channels, data, &window, output);
      }
    }
  }
  return PL_OK;
}

#endif  // KERNELS_DEPTHWISE_CONV2D_WINDOWS_S16_H_
