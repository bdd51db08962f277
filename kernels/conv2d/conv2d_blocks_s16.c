// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dots_s16.h"
#include "kernels/conv2d/windows_s16.h"

static void convolve(const pl_conv2d_s16_params *params, const pl_conv2d_s16_dims *dims,
                     const pl_conv2d_s16_data *data, const pl_conv2d_window_s16 *w,
                     int16_t *output) {
  pl_dots_window window = {
      .rows = w->rows.end - w->rows.begin,
      .columns = w->columns.end - w->columns.begin,
      .count = w->depth,
      .row_step = w->row_step,
      .column_step = w->column_step,
      .weight_step = w->kernel_w * w->depth,
      .channels = dims->output_c / dims->groups,
      .weights = dims->kernel_h * w->kernel_w * w->depth,
      .minimum = params->activation_min,
      .maximum = params->activation_max,
  };
  const int8_t *weight = data->weight + pl_conv2d_weights_before(w);
  if (w->column_step == w->depth) {  // taps of a row are one run
    window.count *= window.columns;
    window.columns = 1;
  }
  const int16_t *x = w->first;
  const int32_t *factors = data->bias;
  for (int32_t group = dims->groups; group > 0; --group) {
    pl_dots_s16(&window, x, weight, factors, output);
    x += w->depth;
    weight += window.channels * window.weights;
    factors += pl_dots_factors(window.channels);
    output += window.channels;
  }
}

pl_status pl_conv2d_blocks_s16(const pl_context *ctx, const pl_conv2d_s16_params *params,
                               const pl_conv2d_s16_dims *dims, const pl_conv2d_s16_data *data) {
  (void)ctx;
  return pl_conv2d_windows_s16(params, dims, data, convolve);
}
