// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"
#include "kernels/depthwise_conv2d/depthwise_conv2d.h"
#include "kernels/depthwise_conv2d/slide_thumb1.h"

#define SIDE 3

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// A function of its own: an image with several of the kernels below links it once.
static __attribute__((noinline)) pl_status convolve(const pl_context *ctx,
                                                    const pl_depthwise_conv2d_params *params,
                                                    const pl_depthwise_conv2d_dims *dims,
                                                    const pl_depthwise_conv2d_data *data,
                                                    pl_slide *slide) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const int32_t c = dims->input_c;
  const int32_t stride = params->stride_h;
  const int32_t columns = (dims->output_w - 1) * params->stride_w + SIDE;
  const int32_t row = columns * c;
  const int32_t band = (dims->scratch_bytes / row - SIDE) / stride + 1;
  const int32_t inside = smaller(columns - params->pad_left, dims->input_w) * c;
  const int32_t out = dims->output_w * c;
  const int8_t zero_point = (int8_t)params->input_zero_point;
  int8_t *const rows = ctx->scratch;
  pl_slide_call call = {
      .row = {rows, rows + row, rows + 2 * row},
      .step = c,
      .width = params->stride_w == 1 ? out | dims->output_w % 3 << 24 : 2 * out,
      .channels = c,
      .stage = data->bias,
      .low_xor_top = params->activation_min ^ params->activation_max,
      .top = params->activation_max,
      .row_step = stride * row,
      .y_step = out,
  };
  const int8_t *image = data->input;
  int8_t *output = data->output;
  pl_fill_bytes(rows, zero_point, ((band - 1) * stride + SIDE) * row);
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; oy += band) {
      call.rows = smaller(band, dims->output_h - oy);
      int32_t y = oy * stride - params->pad_top;
      int8_t *to = rows;
      for (int32_t left = (call.rows - 1) * stride + SIDE; left > 0; --left, ++y, to += row) {
        if (y < 0 || y >= dims->input_h) {
          pl_fill_bytes(to, zero_point, row);
        } else if (inside > 0) {
          pl_copy_bytes(to + params->pad_left * c, image + y * dims->input_w * c, inside);
        }
      }
      call.y = params->stride_w == 1 ? output - 2 * c : output;
      slide(&call);
      output += call.rows * out;
    }
    image += dims->input_h * dims->input_w * c;
  }
  return PL_OK;
}

pl_status pl_depthwise_sliding_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                  const pl_depthwise_conv2d_dims *dims,
                                  const pl_depthwise_conv2d_data *data) {
  return convolve(ctx, params, dims, data, pl_depthwise_slide_s8);
}

pl_status pl_depthwise_sliding_signed_s8(const pl_context *ctx,
                                         const pl_depthwise_conv2d_params *params,
                                         const pl_depthwise_conv2d_dims *dims,
                                         const pl_depthwise_conv2d_data *data) {
  return convolve(ctx, params, dims, data, pl_depthwise_slide_signed_s8);
}

pl_status pl_depthwise_sliding_2_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                    const pl_depthwise_conv2d_dims *dims,
                                    const pl_depthwise_conv2d_data *data) {
  return convolve(ctx, params, dims, data, pl_depthwise_slide_2_s8);
}

pl_status pl_depthwise_sliding_2_signed_s8(const pl_context *ctx,
                                           const pl_depthwise_conv2d_params *params,
                                           const pl_depthwise_conv2d_dims *dims,
                                           const pl_depthwise_conv2d_data *data) {
  return convolve(ctx, params, dims, data, pl_depthwise_slide_2_signed_s8);
}
