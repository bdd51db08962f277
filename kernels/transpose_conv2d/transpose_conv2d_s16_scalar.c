// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"
#include "kernels/transpose_conv2d/windows_s16.h"

static int64_t convolve(const pl_transpose_conv2d_window_s16 *w, const int16_t *image,
                        const int8_t *weight, int64_t sum) {
  for (int32_t row = 0; row < w->rows.count; ++row) {
    for (int32_t column = 0; column < w->columns.count; ++column) {
      const int32_t x = w->first + row * w->row_step + column * w->column_step;
      const int32_t tap = w->first_weight + row * w->weight_step + column * w->depth;
      sum = pl_wide_dot(sum, image + x, weight + tap, w->depth);
    }
  }
  return sum;
}

// All channels of a pixel of the output.
static void convolve_groups(const pl_transpose_conv2d_s16_params *params,
                            const pl_transpose_conv2d_s16_dims *dims,
                            const pl_transpose_conv2d_s16_data *data,
                            const pl_transpose_conv2d_window_s16 *w, const int16_t *image,
                            const int8_t *weight, int32_t size, int16_t *output) {
  const int32_t channels = dims->output_c / dims->groups;
  int32_t o = 0;
  for (int32_t group = 0; group < dims->groups; ++group, image += w->depth) {
    for (int32_t end = o + channels; o < end; ++o, weight += size) {
      const int64_t sum = convolve(w, image, weight, data->bias[o]);
      output[o] = pl_wide_narrow(sum, data->multiplier[o], data->shift[o], params->activation_min,
                                 params->activation_max);
    }
  }
}

pl_status pl_transpose_conv2d_s16(const pl_context *ctx,
                                  const pl_transpose_conv2d_s16_params *params,
                                  const pl_transpose_conv2d_s16_dims *dims,
                                  const pl_transpose_conv2d_s16_data *data) {
  (void)ctx;
  return pl_transpose_conv2d_windows_s16(params, dims, data, convolve_groups);
}
