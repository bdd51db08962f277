// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_conv2d/depthwise_conv2d_s16.h"

#include "kernels/common/depthwise_s16.h"

// Taps inside along an axis, from one on.
typedef struct {
  int32_t begin;
  int32_t count;
} inside;

static inside inside_of(int32_t first, int32_t dilation, int32_t kernel, int32_t size) {
  int32_t begin = 0;
  while (begin < kernel && first + begin * dilation < 0) ++begin;
  while (kernel > begin && first + (kernel - 1) * dilation >= size) --kernel;
  return (inside){begin, kernel - begin};
}

pl_status pl_depthwise_conv2d_s16(const pl_context *ctx,
                                  const pl_depthwise_conv2d_s16_params *params,
                                  const pl_depthwise_conv2d_s16_dims *dims,
                                  const pl_depthwise_conv2d_s16_data *data) {
  (void)ctx;
  const int32_t channels = dims->input_c;
  const int32_t row_size = dims->input_w * channels;
  const pl_depthwise_s16 of = {
      .channels = channels,
      .row_step = params->dilation_h * row_size,
      .column_step = params->dilation_w * channels,
      .weight_step = dims->kernel_w * channels,
      .bias = data->bias,
      .multiplier = data->multiplier,
      .right = data->right,
      .minimum = params->activation_min,
      .maximum = params->activation_max,
  };
  const int16_t *image = data->input;
  int16_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch, image += dims->input_h * row_size) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      const inside rows = inside_of(y, params->dilation_h, dims->kernel_h, dims->input_h);
      for (int32_t ox = 0; ox < dims->output_w; ++ox, output += channels) {
        const int32_t x = ox * params->stride_w - params->pad_left;
        const inside columns = inside_of(x, params->dilation_w, dims->kernel_w, dims->input_w);
        const pl_depthwise_taps taps = {
            .first = image + (y + rows.begin * params->dilation_h) * row_size +
                     (x + columns.begin * params->dilation_w) * channels,
            .weight = data->weight + (rows.begin * dims->kernel_w + columns.begin) * channels,
            .rows = rows.count,
            .columns = columns.count,
        };
        pl_depthwise_window_s16(&of, &taps, output);
      }
    }
  }
  return PL_OK;
}
