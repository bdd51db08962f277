// SPDX-License-Identifier: Apache-2.0
// The windows of pl_transpose_conv2d_s16 and pl_transpose_conv2d_blocks_s16.
#ifndef KERNELS_TRANSPOSE_CONV2D_WINDOWS_S16_H_
#define KERNELS_TRANSPOSE_CONV2D_WINDOWS_S16_H_

#include "kernels/common/pool_s8.h"
#include "kernels/transpose_conv2d/transpose_conv2d_s16.h"

// The taps of a window inside of the input.
typedef struct {
  pl_taps rows;
  pl_taps columns;
  int32_t first;         // input position of the first of them
  int32_t first_weight;  // its place in a channel's weights
  int32_t row_step;      // in the input, from tap to tap
  int32_t column_step;
  int32_t weight_step;  // from row to row
  int32_t depth;        // channels of a tap
} pl_transpose_conv2d_window_s16;

// All channels of a pixel of the output; weights are those of the phase, of `size` a channel.
typedef void pl_transpose_conv2d_pixel_s16(const pl_transpose_conv2d_s16_params *params,
                                           const pl_transpose_conv2d_s16_dims *dims,
                                           const pl_transpose_conv2d_s16_data *data,
                                           const pl_transpose_conv2d_window_s16 *w,
                                           const int16_t *image, const int8_t *weight, int32_t size,
                                           int16_t *output);

// One image. `pixel` is a constant where this is inlined.
PL_INLINE void pl_transpose_conv2d_phase_s16(const pl_transpose_conv2d_s16_params *params,
                                             const pl_transpose_conv2d_s16_dims *dims,
                                             const pl_transpose_conv2d_s16_data *data,
                                             const pl_transpose_conv2d_phase *phase,
                                             const int16_t *image, const int8_t *weight,
                                             int16_t *output,
                                             pl_transpose_conv2d_pixel_s16 *pixel) {
  const int32_t row_size = dims->input_w * dims->input_c;
  pl_transpose_conv2d_window_s16 w = {
      .row_step = params->dilation_h * row_size,
      .column_step = params->dilation_w * dims->input_c,
      .depth = dims->input_c / dims->groups,
  };
  w.weight_step = phase->kernel_w * w.depth;
  const int32_t size = phase->kernel_h * w.weight_step;
  int32_t y = phase->input_y;
  for (int32_t oy = phase->output_y - params->first_row; oy < dims->output_h;
       oy += params->stride_h, ++y) {
    if (oy < 0) continue;
    w.rows = pl_clip_taps(y, phase->kernel_h, params->dilation_h, dims->input_h);
    int32_t x = phase->input_x;
    for (int32_t ox = phase->output_x; ox < dims->output_w; ox += params->stride_w, ++x) {
      w.columns = pl_clip_taps(x, phase->kernel_w, params->dilation_w, dims->input_w);
      w.first = w.rows.begin * row_size + w.columns.begin * dims->input_c;
      w.first_weight = (w.rows.begin - y) / params->dilation_h * w.weight_step +
                       (w.columns.begin - x) / params->dilation_w * w.depth;
      pixel(params, dims, data, &w, image, weight, size,
            output + (oy * dims->output_w + ox) * dims->output_c);
    }
  }
}

// Every pixel of the output, phase by phase.
PL_INLINE pl_status pl_transpose_conv2d_windows_s16(const pl_transpose_conv2d_s16_params *params,
                                                    const pl_transpose_conv2d_s16_dims *dims,
                                                    const pl_transpose_conv2d_s16_data *data,
                                                    pl_transpose_conv2d_pixel_s16 *pixel) {
  const int32_t depth = dims->input_c / dims->groups;
  const int8_t *weight = data->weight;
  for (int32_t i = 0; i < dims->phases; ++i) {
    const pl_transpose_conv2d_phase *phase = &data->phases[i];
    for (int32_t batch = 0; batch < dims->batches; ++batch) {
      pl_transpose_conv2d_phase_s16(
          params, dims, data, phase,
          data->input + batch * dims->input_h * dims->input_w * dims->input_c, weight,
          data->output + batch * dims->output_h * dims->output_w * dims->output_c, pixel);
    }
    weight += dims->output_c * phase->kernel_h * phase->kernel_w * depth;
  }
  return PL_OK;
}

#endif  // KERNELS_TRANSPOSE_CONV2D_WINDOWS_S16_H_
