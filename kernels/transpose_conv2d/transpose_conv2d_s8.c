// SPDX-License-Identifier: Apache-2.0
#include "kernels/transpose_conv2d/transpose_conv2d.h"

#include "kernels/common/gemm_s8.h"
#include "kernels/common/window_s8.h"

// One phase of one group of one image.
static void convolve(const pl_transpose_conv2d_params *params, const pl_transpose_conv2d_dims *dims,
                     const pl_transpose_conv2d_phase *phase, const pl_window_shape *shape,
                     const pl_gemm_s8_layer *layer, const int8_t *image, int8_t *windows,
                     int8_t *output) {
  const int32_t step = params->stride_w * dims->output_c;
  int32_t y = phase->input_y;
  for (int32_t oy = phase->output_y; oy < dims->output_h; oy += params->stride_h, ++y) {
    int8_t *row = output + (oy * dims->output_w + phase->output_x) * dims->output_c;
    int32_t gathered = 0;
    int32_t x = phase->input_x;
    for (int32_t ox = phase->output_x; ox < dims->output_w; ox += params->stride_w, ++x) {
      pl_gather_window_s8(shape, image, y, x, windows + gathered * layer->depth);
      if (++gathered == dims->gathered) {
        pl_gemm_s8(layer, gathered, windows, layer->depth, row, step);
        row += gathered * step;
        gathered = 0;
      }
    }
    pl_gemm_s8(layer, gathered, windows, layer->depth, row, step);
  }
}

pl_status pl_transpose_conv2d_s8(const pl_context *ctx, const pl_transpose_conv2d_params *params,
                                 const pl_transpose_conv2d_dims *dims,
                                 const pl_transpose_conv2d_data *data) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t image_bytes = dims->input_h * dims->input_w * dims->input_c;
  const int32_t result_bytes = dims->output_h * dims->output_w * dims->output_c;
  const int32_t tap_c = dims->input_c / dims->groups;
  const int32_t channels = dims->output_c / dims->groups;
  pl_gemm_s8_layer layer = {.weight = data->weight, .bias = data->bias, .channels = channels};
  for (int32_t i = 0; i < dims->phases; ++i) {
    const pl_transpose_conv2d_phase *phase = &data->phases[i];
    const pl_window_shape shape = {
        .input_h = dims->input_h,
        .input_w = dims->input_w,
        .input_c = dims->input_c,
        .kernel_h = phase->kernel_h,
        .kernel_w = phase->kernel_w,
        .dilation_h = params->dilation_h,
        .dilation_w = params->dilation_w,
        .tap_c = tap_c,
        .zero_point = (int8_t)params->input_zero_point,
    };
    layer.depth = phase->kernel_h * phase->kernel_w * tap_c;
    layer.output = (pl_output_stage){data->multiplier, data->shift, params->output_zero_point,
                                     params->activation_min, params->activation_max};
    for (int32_t group = 0; group < dims->groups; ++group) {
      const int8_t *image = data->input + group * tap_c;
      int8_t *output = data->output + group * channels;
      for (int32_t batch = 0; batch < dims->batches; ++batch) {
        convolve(params, dims, phase, &shape, &layer, image, ctx->scratch, output);
        image += image_bytes;
        output += result_bytes;
      }
      layer.weight += dims->packed_c * layer.depth;
      layer.bias += dims->packed_c;
      pl_skip_channels(&layer.output, dims->packed_c);
    }
  }
  return PL_OK;
}
