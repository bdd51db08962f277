// SPDX-License-Identifier: Apache-2.0
// Convolutions on gemm_blocks_s8.h.
//
// Windows of an output row share columns. The columns are copied to scratch one by one, each with
// all kernel rows, padding included. The windows are then overlapping runs of bytes. Each input
// byte is copied kernel_h times, not once per tap. The weights are packed with kernel_w before
// kernel_h.
//
// Dilated taps: columns at the same spacing make such a run. They are the windows of one phase, and
// a row has `phases` phases. Windows with separate im2col copies are in order.
#ifndef KERNELS_CONV2D_BLOCKS_MVE_H_
#define KERNELS_CONV2D_BLOCKS_MVE_H_

#include "kernels/common/gemm_blocks_s8.h"
#include "kernels/common/window_columns_mve.h"
#include "kernels/conv2d/conv2d.h"

// Adjacent values of one channel's weights.
#define PL_BLOCK_LANES 16

typedef struct {
  const pl_conv2d_params *params;
  const pl_conv2d_dims *dims;
  pl_columns_shape shape;
  int32_t phases;
  int32_t window_step;  // columns from one window of a phase to the next
  int8_t *columns;      // scratch: [columns][kernel_h][tap_c]
} pl_windows_in_columns;

// One group of one image.
PL_INLINE void pl_convolve_blocks(const pl_windows_in_columns *w, const pl_gemm_blocks_s8 *layer,
                                  pl_multiply_of_blocks multiply, const int8_t *image,
                                  int8_t *output) {
  const pl_conv2d_params *const params = w->params;
  const pl_conv2d_dims *const dims = w->dims;
  const int32_t row = dims->input_w * dims->input_c;
  for (int32_t oy = 0; oy < dims->output_h; ++oy) {
    const int32_t y = oy * params->stride_h - params->pad_top;
    if (dims->gathered == 0) {  // each window is one run of the input
      multiply(layer, dims->output_w, image + y * row, params->stride_w * dims->input_c, output,
               dims->output_c);
    }
    for (int32_t phase = 0; phase < w->phases; ++phase) {
      for (int32_t ox = phase; ox < dims->output_w; ox += dims->gathered * w->phases) {
        const int32_t left = (dims->output_w - 1 - ox) / w->phases + 1;
        const int32_t count = left < dims->gathered ? left : dims->gathered;
        pl_copy_columns(&w->shape, image, y, ox * params->stride_w - params->pad_left,
                        (count - 1) * w->window_step + dims->kernel_w, w->columns);
        multiply(layer, count, w->columns, w->window_step * dims->kernel_h * w->shape.tap_c,
                 output + ox * dims->output_c, w->phases * dims->output_c);
      }
    }
    output += dims->output_w * dims->output_c;
  }
}

PL_INLINE pl_status pl_conv2d_by_blocks(const pl_context *ctx, const pl_conv2d_params *params,
                                        const pl_conv2d_dims *dims, const pl_conv2d_data *data,
                                        pl_multiply_of_blocks multiply) {
  const int shared = dims->gathered == 1 || params->stride_w % params->dilation_w == 0;
  const int32_t tap_c = dims->input_c / dims->groups;
  pl_windows_in_columns w = {
      .params = params,
      .dims = dims,
      .shape =
          {
              .input_h = dims->input_h,
              .input_w = dims->input_w,
              .input_c = dims->input_c,
              .kernel_h = dims->kernel_h,
              .dilation_h = params->dilation_h,
              .dilation_w = params->dilation_w,
              .tap_c = tap_c,
              .zero_point = params->input_zero_point,
          },
      .phases = dims->gathered == 0 ? 0
                : shared            ? 1
                                    : params->dilation_w,
      .window_step = shared ? params->stride_w / params->dilation_w : params->stride_w,
      .columns = ctx->scratch,
  };
  pl_gemm_blocks_s8 layer = {
      .weight = data->weight,
      .constants = data->bias,
      .depth = dims->kernel_h * dims->kernel_w * tap_c,
      .channels = dims->output_c / dims->groups,
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  const int32_t columns = (dims->gathered - 1) * w.window_step + dims->kernel_w;
  if (dims->gathered > 0 && ctx->scratch_size < (uint32_t)(columns * dims->kernel_h * tap_c)) {
    return PL_ERROR_SCRATCH_SIZE;
  }
  if (dims->gathered > 0) pl_set_places(&w.shape);
  for (int32_t group = 0; group < dims->groups; ++group) {
    const int8_t *image = data->input + group * tap_c;
    int8_t *output = data->output + group * layer.channels;
    for (int32_t batch = 0; batch < dims->batches; ++batch) {
      pl_convolve_blocks(&w, &layer, multiply, image, output);
      image += dims->input_h * dims->input_w * dims->input_c;
      output += dims->output_h * dims->output_w * dims->output_c;
    }
    layer.weight +=
        dims->packed_c * ((layer.depth + PL_BLOCK_LANES - 1) / PL_BLOCK_LANES * PL_BLOCK_LANES);
    layer.constants += 3 * dims->packed_c;
  }
  return PL_OK;
}

#endif  // KERNELS_CONV2D_BLOCKS_MVE_H_
