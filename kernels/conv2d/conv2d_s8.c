// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"
#include "kernels/common/gemm_s8.h"
#include "kernels/conv2d/conv2d.h"

// What gathering a window needs to know, for one group.
typedef struct {
  int32_t input_h;
  int32_t input_w;
  int32_t input_c;
  int32_t kernel_h;
  int32_t kernel_w;
  int32_t dilation_h;
  int32_t dilation_w;
  int32_t tap_c;  // channels of a tap: those of the group
  int8_t zero_point;
} window_shape;

// Taps next to each other in memory: copies the row's part inside the input, fills the rest.
static void gather_dense_row(const window_shape *shape, const int8_t *row, int32_t x0, int8_t *to) {
  const int32_t tap_c = shape->tap_c;
  int32_t begin = 0;
  int32_t end = shape->kernel_w;
  if (x0 < 0) {
    begin = -x0 < end ? -x0 : end;
    pl_fill_bytes(to, shape->zero_point, begin * tap_c);
  }
  if (x0 + end > shape->input_w) {
    const int32_t inside = shape->input_w - x0 > begin ? shape->input_w - x0 : begin;
    pl_fill_bytes(to + inside * tap_c, shape->zero_point, (end - inside) * tap_c);
    end = inside;
  }
  pl_copy_bytes(to + begin * tap_c, row + (x0 + begin) * tap_c, (end - begin) * tap_c);
}

static void gather_spread_row(const window_shape *shape, const int8_t *row, int32_t x0,
                              int8_t *to) {
  for (int32_t kx = 0; kx < shape->kernel_w; ++kx) {
    const int32_t x = x0 + kx * shape->dilation_w;
    if (x >= 0 && x < shape->input_w) {
      pl_copy_bytes(to, row + x * shape->input_c, shape->tap_c);
    } else {
      pl_fill_bytes(to, shape->zero_point, shape->tap_c);
    }
    to += shape->tap_c;
  }
}

// Copies the window whose first tap is (y0, x0), padding read as the zero point.
static void gather_window(const window_shape *shape, const int8_t *image, int32_t y0, int32_t x0,
                          int8_t *to) {
  const int32_t row_bytes = shape->input_w * shape->input_c;
  const int32_t window_row = shape->kernel_w * shape->tap_c;
  const int dense = shape->dilation_w == 1 && shape->tap_c == shape->input_c;
  int32_t y = y0;
  for (int32_t ky = 0; ky < shape->kernel_h; ++ky) {
    if (y < 0 || y >= shape->input_h) {
      pl_fill_bytes(to, shape->zero_point, window_row);
    } else if (dense) {
      gather_dense_row(shape, image + y * row_bytes, x0, to);
    } else {
      gather_spread_row(shape, image + y * row_bytes, x0, to);
    }
    y += shape->dilation_h;
    to += window_row;
  }
}

// One group of one image. Windows are multiplied together across ends of rows.
static void convolve(const pl_conv2d_params *params, const pl_conv2d_dims *dims,
                     const window_shape *shape, const pl_gemm_s8_layer *layer, const int8_t *image,
                     int8_t *windows, int8_t *output) {
  int32_t gathered = 0;
  for (int32_t oy = 0; oy < dims->output_h; ++oy) {
    for (int32_t ox = 0; ox < dims->output_w; ++ox) {
      gather_window(shape, image, oy * params->stride_h - params->pad_top,
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

pl_status pl_conv2d_s8(const pl_context *ctx, const pl_conv2d_params *params,
                       const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  const window_shape shape = {
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
      convolve(params, dims, &shape, &layer, image, ctx->scratch, output);
      image += image_bytes;
      output += result_bytes;
    }
    layer.weight += dims->packed_c * depth;
    layer.bias += dims->packed_c;
    layer.output.multiplier += dims->packed_c;
    layer.output.shift += dims->packed_c;
  }
  return PL_OK;
}
