// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"
#include "kernels/conv2d/windows_s16.h"

static int64_t convolve(const pl_conv2d_window_s16 *w, const int16_t *row, const int8_t *weight,
                        int64_t sum) {
  const int32_t columns = w->columns.end - w->columns.begin;
  weight += pl_conv2d_weights_before(w);
  for (int32_t y = w->rows.begin; y < w->rows.end; ++y) {
    if (w->depth == 1) {
      for (int32_t x = 0; x < columns; ++x) {
        sum = pl_add_product(sum, row[x * w->column_step], weight[x]);
      }
    } else if (w->column_step == w->depth) {
      sum = pl_wide_dot(sum, row, weight, columns * w->depth);
    } else {
      for (int32_t x = 0; x < columns; ++x) {
        sum = pl_wide_dot(sum, row + x * w->column_step, weight + x * w->depth, w->depth);
      }
    }
    row += w->row_step;
    weight += w->kernel_w * w->depth;
  }
  return sum;
}

// All channels at one output position. The window is that of the first group.
static void convolve_groups(const pl_conv2d_s16_params *params, const pl_conv2d_s16_dims *dims,
                            const pl_conv2d_s16_data *data, const pl_conv2d_window_s16 *w,
                            int16_t *output) {
  const int32_t channels = dims->output_c / dims->groups;
  const int32_t size = dims->kernel_h * dims->kernel_w * w->depth;
  const int8_t *weight = data->weight;
  const int16_t *first = w->first;
  int32_t o = 0;
  for (int32_t group = 0; group < dims->groups; ++group) {
    for (int32_t end = o + channels; o < end; ++o, weight += size) {
      const int64_t sum = convolve(w, first, weight, data->bias[o]);
      output[o] = pl_wide_narrow(sum, data->multiplier[o], data->shift[o], params->activation_min,
                                 params->activation_max);
    }
    first += w->depth;
  }
}

pl_status pl_conv2d_s16(const pl_context *ctx, const pl_conv2d_s16_params *params,
                        const pl_conv2d_s16_dims *dims, const pl_conv2d_s16_data *data) {
  (void)ctx;
  return pl_conv2d_windows_s16(params, dims, data, convolve_groups);
}
