// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/depthwise_s16.h"
#include "kernels/transpose_conv2d/windows_s16.h"

static void convolve_channels(const pl_transpose_conv2d_s16_params *params,
                              const pl_transpose_conv2d_s16_dims *dims,
                              const pl_transpose_conv2d_s16_data *data,
                              const pl_transpose_conv2d_window_s16 *w, const int16_t *image,
                              const int8_t *weight, int32_t size, int16_t *output) {
  (void)size;
  const int32_t channels = dims->output_c;
  const pl_depthwise_s16 of = {
      .channels = channels,
      .row_step = w->row_step,
      .column_step = w->column_step,
      .weight_step = w->weight_step * channels,
      .bias = data->bias,
      .multiplier = data->multiplier,
      .right = data->shift,
      .minimum = params->activation_min,
      .maximum = params->activation_max,
  };
  const pl_depthwise_taps taps = {
      .first = image + w->first,
      .weight = weight + w->first_weight * channels,
      .rows = w->rows.count,
      .columns = w->columns.count,
  };
  pl_depthwise_window_s16(&of, &taps, output);
}

pl_status pl_transpose_conv2d_depthwise_s16(const pl_context *ctx,
                                            const pl_transpose_conv2d_s16_params *params,
                                            const pl_transpose_conv2d_s16_dims *dims,
                                            const pl_transpose_conv2d_s16_data *data) {
  (void)ctx;
  return pl_transpose_conv2d_windows_s16(params, dims, data, convolve_channels);
}
