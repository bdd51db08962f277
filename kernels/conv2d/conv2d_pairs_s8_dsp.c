// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/clamp_s8.h"
#include "kernels/common/gemm_pairs_s8.h"
#include "kernels/common/window_s8.h"
#include "kernels/conv2d/conv2d.h"

// Common data of all windows of a group.
typedef struct {
  pl_window_shape shape;
  int32_t stride_h;
  int32_t stride_w;
  int32_t run;       // values of a row of a window
  int32_t row_step;  // in the image, from row to row
  int32_t last_y;    // windows with the first tap in [0, last_y] x [0, last_x] are widened directly
  int32_t last_x;    // from the image; others are copied first
  pl_gather_window *gather;
} windows;

static inline int are_in_place(const windows *w, int32_t y, int32_t x, int32_t count) {
  return y >= 0 && y <= w->last_y && x >= 0 && x + (count - 1) * w->stride_w <= w->last_x;
}

static void widen_window(const windows *w, const int8_t *image, int32_t y, int32_t x,
                         int8_t *gathered, uint32_t *to, int32_t lanes) {
  const int8_t *from = image + (y * w->shape.input_w + x) * w->shape.input_c;
  int32_t row_step = w->row_step;
  if (!are_in_place(w, y, x, 1)) {
    w->gather(&w->shape, image, y, x, gathered);
    from = gathered;
    row_step = w->run;
  }
  pl_widen_s8(from, w->shape.kernel_h, row_step, w->run, to, lanes);
}

// One group of one image. Windows are multiplied together across ends of rows.
static void convolve(const pl_conv2d_params *params, const pl_conv2d_dims *dims, const windows *w,
                     const pl_gemm_pairs_s8 *layer, const int8_t *image, uint32_t *steps,
                     int8_t *gathered, int8_t *output, pl_multiply_s8 *multiply) {
  int32_t ox = 0;
  int32_t y = -params->pad_top;
  int32_t x = -params->pad_left;
  for (int32_t left = dims->output_h * dims->output_w; left > 0;) {
    const int32_t count = left < PL_PAIRS_ROWS ? 1 : PL_PAIRS_ROWS;
    int32_t widened = 0;
    if (count > 1 && ox + count <= dims->output_w && are_in_place(w, y, x, count)) {
      const int8_t *from = image + (y * w->shape.input_w + x) * w->shape.input_c;
      pl_widen_4_s8(from, w->stride_w * w->shape.input_c, w->shape.kernel_h, w->row_step, w->run,
                    steps);
      ox += count;
      x += count * w->stride_w;
      widened = count;
    }
    for (;;) {
      if (ox == dims->output_w) {
        ox = 0;
        x = -params->pad_left;
        y += w->stride_h;
      }
      if (widened == count) break;
      widen_window(w, image, y, x, gathered, steps + widened, count);
      ++widened;
      ++ox;
      x += w->stride_w;
    }
    multiply(layer, count, output);
    output += count * dims->output_c;
    left -= count;
  }
}

// A function of its own: an image with several of the kernels below links it once, and links only
// the im2col copies it needs.
static __attribute__((noinline)) pl_status run(const pl_context *ctx,
                                               const pl_conv2d_params *params,
                                               const pl_conv2d_dims *dims,
                                               const pl_conv2d_data *data, pl_multiply_s8 *multiply,
                                               pl_gather_window *gather) {
  const int32_t tap_c = dims->input_c / dims->groups;
  const int dense = dims->kernel_w == 1 || (params->dilation_w == 1 && dims->groups == 1);
  const int32_t run = dims->kernel_w * tap_c;
  const windows w = {
      .shape =
          {
              .input_h = dims->input_h,
              .input_w = dims->input_w,
              .input_c = dims->input_c,
              .kernel_h = dims->kernel_h,
              .kernel_w = dims->kernel_w,
              .dilation_h = params->dilation_h,
              .dilation_w = params->dilation_w,
              .tap_c = tap_c,
              .zero_point = (int8_t)params->input_zero_point,
          },
      .stride_h = params->stride_h,
      .stride_w = params->stride_w,
      .run = run,
      .row_step = params->dilation_h * dims->input_w * dims->input_c,
      .last_y = dims->input_h - 1 - (dims->kernel_h - 1) * params->dilation_h,
      .last_x = dense ? dims->input_w - dims->kernel_w : -1,
      .gather = gather,
  };
  const int32_t depth = dims->kernel_h * run;
  const int32_t row_bytes = 4 * pl_steps_of(depth);
  if (ctx->scratch_size < (uint32_t)(PL_PAIRS_ROWS * row_bytes + dims->gathered * depth)) {
    return PL_ERROR_SCRATCH_SIZE;
  }
  uint32_t *const steps = ctx->scratch;
  int8_t *const gathered = (int8_t *)ctx->scratch + PL_PAIRS_ROWS * row_bytes;
  const int32_t channels = dims->output_c / dims->groups;
  for (int32_t group = 0; group < dims->groups; ++group) {
    const pl_gemm_pairs_s8 layer =
        pl_gemm_pairs(data->weight + group * (dims->packed_c / 2) * row_bytes,
                      data->bias + group * 3 * dims->packed_c, depth, channels,
                      params->output_zero_point, steps, dims->output_c);
    const int8_t *image = data->input + group * tap_c;
    int8_t *output = data->output + group * channels;
    for (int32_t batch = 0; batch < dims->batches; ++batch) {
      convolve(params, dims, &w, &layer, image, steps, gathered, output, multiply);
      image += dims->input_h * dims->input_w * dims->input_c;
      output += dims->output_h * dims->output_w * dims->output_c;
    }
  }
  if (params->activation_max - params->activation_min != INT8_MAX - INT8_MIN) {
    pl_clamp_s8(data->output, dims->batches * dims->output_h * dims->output_w * dims->output_c,
                params->activation_min, params->activation_max);
  }
  return PL_OK;
}

pl_status pl_conv2d_pairs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                             const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_multiply_pairs_s8, pl_gather_dense_window_s8);
}

pl_status pl_conv2d_wide_pairs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                  const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_multiply_wide_pairs_s8, pl_gather_dense_window_s8);
}

pl_status pl_conv2d_spread_pairs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                    const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_multiply_pairs_s8, pl_gather_spread_window_s8);
}

pl_status pl_conv2d_spread_wide_pairs_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                         const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_multiply_wide_pairs_s8, pl_gather_spread_window_s8);
}
