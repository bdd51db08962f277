// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/gemm_blocks_s8.h"
#include "kernels/common/window_s8.h"
#include "kernels/conv2d/conv2d.h"

// As pl_gather_window_s8, for a window inside the image whose rows are runs of it.
static inline void copy_window(const int8_t *from, int32_t row_step, int32_t rows, int32_t run,
                               int8_t *to) {
  for (; rows > 0; --rows) {
    const int8_t *x = from;
    int8_t *at = to;
    for (int32_t left = run; left > 0; left -= 16) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      vstrbq_p_s8(at, vldrbq_z_s8(x, lanes), lanes);
      x += 16;
      at += 16;
    }
    from += row_step;
    to += run;
  }
}

// One group of one image. Windows that are in a row of the output and of which each is one run of
// the input are multiplied where they are; others are gathered, across ends of rows.
static void convolve(const pl_conv2d_params *params, const pl_conv2d_dims *dims,
                     const pl_window_shape *shape, const pl_gemm_blocks_s8 *layer,
                     const int8_t *image, int8_t *windows, int8_t *output) {
  const int32_t row_step = params->dilation_h * dims->input_w * dims->input_c;
  const int dense = dims->kernel_w == 1 || (params->dilation_w == 1 && dims->groups == 1);
  // Windows whose first tap is at most here are inside, and their rows are runs.
  const int32_t last_y = dims->input_h - 1 - (dims->kernel_h - 1) * params->dilation_h;
  const int32_t last_x = dense ? dims->input_w - dims->kernel_w : -1;
  int32_t gathered = 0;
  for (int32_t oy = 0; oy < dims->output_h; ++oy) {
    const int32_t y = oy * params->stride_h - params->pad_top;
    if (dims->gathered == 0) {
      pl_multiply_blocks_s8(layer, dims->output_w, image + y * dims->input_w * dims->input_c,
                            params->stride_w * dims->input_c, output, dims->output_c);
      output += dims->output_w * dims->output_c;
      continue;
    }
    for (int32_t ox = 0; ox < dims->output_w; ++ox) {
      const int32_t x = ox * params->stride_w - params->pad_left;
      int8_t *const to = windows + gathered * layer->depth;
      if (y >= 0 && y <= last_y && x >= 0 && x <= last_x) {
        copy_window(image + (y * dims->input_w + x) * dims->input_c, row_step, dims->kernel_h,
                    dims->kernel_w * shape->tap_c, to);
      } else {
        pl_gather_window_s8(shape, image, y, x, to);
      }
      if (++gathered == dims->gathered) {
        pl_multiply_blocks_s8(layer, gathered, windows, layer->depth, output, dims->output_c);
        output += gathered * dims->output_c;
        gathered = 0;
      }
    }
  }
  pl_multiply_blocks_s8(layer, gathered, windows, layer->depth, output, dims->output_c);
}

pl_status pl_conv2d_blocks_s8(const pl_context *ctx, const pl_conv2d_params *params,
                              const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
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
  pl_gemm_blocks_s8 layer = {
      .weight = data->weight,
      .constants = data->bias,
      .depth = dims->kernel_h * dims->kernel_w * shape.tap_c,
      .channels = dims->output_c / dims->groups,
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  if (ctx->scratch_size < (uint32_t)(dims->gathered * layer.depth)) return PL_ERROR_SCRATCH_SIZE;
  for (int32_t group = 0; group < dims->groups; ++group) {
    const int8_t *image = data->input + group * shape.tap_c;
    int8_t *output = data->output + group * layer.channels;
    for (int32_t batch = 0; batch < dims->batches; ++batch) {
      convolve(params, dims, &shape, &layer, image, ctx->scratch, output);
      image += dims->input_h * dims->input_w * dims->input_c;
      output += dims->output_h * dims->output_w * dims->output_c;
    }
    layer.weight += dims->packed_c * ((layer.depth + 15) & ~15);
    layer.constants += 3 * dims->packed_c;
  }
  return PL_OK;
}
