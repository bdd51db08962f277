// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dots_s16.h"
#include "kernels/transpose_conv2d/windows_s16.h"

static void convolve_groups(const pl_transpose_conv2d_s16_params *params,
                            const pl_transpose_conv2d_s16_dims *dims,
                            const pl_transpose_conv2d_s16_data *data,
                            const pl_transpose_conv2d_window_s16 *w, const int16_t *image,
                            const int8_t *weight, int32_t size, int16_t *output) {
  pl_dots_window window = {
      .rows = w->rows.count,
      .columns = w->columns.count,
      .count = w->depth,
      .row_step = w->row_step,
      .column_step = w->column_step,
      .weight_step = w->weight_step,
      .channels = dims->output_c / dims->groups,
      .weights = size,
      .minimum = params->activation_min,
      .maximum = params->activation_max,
  };
  if (w->column_step == w->depth) {  // taps of a row are one run
    window.count *= window.columns;
    window.columns = 1;
  }
  const int16_t *x = image + w->first;
  const int32_t *factors = data->bias;
  weight += w->first_weight;
  for (int32_t group = dims->groups; group > 0; --group) {
    pl_dots_s16(&window, x, weight, factors, output);
    x += w->depth;
    weight += window.channels * size;
    factors += pl_dots_factors(window.channels);
    output += window.channels;
  }
}

pl_status pl_transpose_conv2d_blocks_s16(const pl_context *ctx,
                                         const pl_transpose_conv2d_s16_params *params,
                                         const pl_transpose_conv2d_s16_dims *dims,
                                         const pl_transpose_conv2d_s16_data *data) {
  (void)ctx;
  return pl_transpose_conv2d_windows_s16(params, dims, data, convolve_groups);
}
