// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_s8.h"
#include "kernels/common/window_s8.h"
#include "kernels/conv2d/conv2d.h"

// One group of one image. Windows are multiplied together across row ends. Inlined into the kernel
// of each im2col variant; an image links only the variants it needs.
PL_INLINE void convolve(const pl_conv2d_params *params, const pl_conv2d_dims *dims,
                        const pl_window_shape *shape, const pl_gemm_s8_layer *layer,
                        const int8_t *image, int8_t *windows, int8_t *output,
                        pl_gather_window *gather) {
  int32_t gathered = 0;
  for (int32_t oy = 0; oy < dims->output_h; ++oy) {
    for (int32_t ox = 0; ox < dims->output_w; ++ox) {
      gather(shape, image, oy * params->stride_h - params->pad_top,
             ox * params->stride_w - params->pad_left, windows + gathered * layer->depth);
      if (++gathered == dims->gathered) {
        pl_gemm_s8(layer, gathered, windows, layer->depth, output, dims->output_c);
        output += gathered * dims->output_c;
        gathered = 0;
      }
    }
  }
  pl_gemm_s8(layer, gathered, windows, layer->depth, output, dims->output_c);
}

PL_INLINE pl_status convolve_groups(const pl_context *ctx, const pl_conv2d_params *params,
                                    const pl_conv2d_dims *dims, const pl_conv2d_data *data,
                                    pl_gather_window *gather) {
  const pl_window_shape shape = {
      .input_h = dims->input_h,
      .input_w = dims->input_w,
      .input_c = dims->input_c,
      .kernel_h = dims->kernel_h,
      .kernel_w = dims->kernel_w,
      .dilation_h = params->dilation_h,
      .dilation_w = params->dilation_w,
      .tap_c = dims->input_c / dims->groups,
      .zero_point = (int8_t)params->input_zero_point,
  };
  const int32_t depth = dims->kernel_h * dims->kernel_w * shape.tap_c;
  if (ctx->scratch_size < (uint32_t)(dims->gathered * depth)) return PL_ERROR_SCRATCH_SIZE;

  const int32_t image_bytes = dims->input_h * dims->input_w * dims->input_c;
  const int32_t result_bytes = dims->output_h * dims->output_w * dims->output_c;
  pl_gemm_s8_layer layer = {
      .weight = data->weight,
      .bias = data->bias,
      .depth = depth,
      .channels = dims->output_c / dims->groups,
      .output = {data->multiplier, data->shift, params->output_zero_point, params->activation_min,
                 params->activation_max},
  };
  for (int32_t group = 0; group < dims->groups; ++group) {
    const int8_t *image = data->input + group * shape.tap_c;
    int8_t *output = data->output + group * layer.channels;
    for (int32_t batch = 0; batch < dims->batches; ++batch) {
      convolve(params, dims, &shape, &layer, image, ctx->scratch, output, gather);
      image += image_bytes;
      output += result_bytes;
    }
    layer.weight += dims->packed_c * depth;
    layer.bias += dims->packed_c;
    pl_skip_channels(&layer.output, dims->packed_c);
  }
  return PL_OK;
}

pl_status pl_conv2d_s8(const pl_context *ctx, const pl_conv2d_params *params,
                       const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  return convolve_groups(ctx, params, dims, data, pl_gather_dense_window_s8);
}

pl_status pl_conv2d_spread_s8(const pl_context *ctx, const pl_conv2d_params *params,
                              const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  return convolve_groups(ctx, params, dims, data, pl_gather_spread_window_s8);
}
