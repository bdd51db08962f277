// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/gemm_taps_s8.h"
#include "kernels/common/window_s8.h"
#include "kernels/conv2d/conv2d_taps.h"

// Common data of all windows of a group, and the place of the next one.
typedef struct {
  pl_window_shape shape;
  pl_gather_window *gather;
  int32_t stride_h;
  int32_t stride_w;
  int32_t pad_left;
  int32_t output_w;
  int32_t run;       // values of a row of a window
  int32_t row_step;  // in the image, from row to row
  int32_t last_y;    // windows with the first tap in [0, last_y] x [0, last_x] are in the image as
  int32_t last_x;    // runs
  int32_t words;     // nonzero if runs, and the steps from window to window, are whole words
  int32_t ox, x, y;
} windows;

static inline int are_in_place(const windows *w, int32_t last) {
  return w->y >= 0 && w->y <= w->last_y && w->x >= 0 && last <= w->last_x;
}

static inline const int8_t *start_of(const windows *w, const int8_t *image) {
  return image + (w->y * w->shape.input_w + w->x) * w->shape.input_c;
}

static inline void skip(windows *w, int32_t count) {
  w->ox += count;
  w->x += count * w->stride_w;
  if (w->ox == w->output_w) {
    w->ox = 0;
    w->x = -w->pad_left;
    w->y += w->stride_h;
  }
}

// Copies runs of bytes, anywhere. A call for each takes longer.
static void copy_runs(const int8_t *from, int8_t *to, int32_t run, int32_t runs, int32_t row_step) {
  for (; runs > 0; --runs, from += row_step) {
    const int8_t *x = from;
    for (const int8_t *end = x + (run & ~3); x != end; x += 4, to += 4) {
      const int8_t a = x[0], b = x[1], c = x[2], d = x[3];
      to[0] = a;
      to[1] = b;
      to[2] = c;
      to[3] = d;
    }
    for (const int8_t *end = x + (run & 3); x != end;) *to++ = *x++;
  }
}

static void copy_window(windows *w, const int8_t *image, int8_t *to) {
  if (are_in_place(w, w->x)) {
    copy_runs(start_of(w, image), to, w->run, w->shape.kernel_h, w->row_step);
  } else {
    w->gather(&w->shape, image, w->y, w->x, to);
  }
  skip(w, 1);
}

// Expands the next two windows, or the last one twice. `copied` is for two windows in bytes.
static void expand_windows(windows *w, const int8_t *image, int32_t second, int32_t depth,
                           uint32_t *to, int8_t *copied) {
  const int8_t *from = start_of(w, image);
  if (w->words && second && w->ox + 2 <= w->output_w && are_in_place(w, w->x + w->stride_w) &&
      ((uintptr_t)from & 3) == 0) {
    const int32_t step = w->stride_w * w->shape.input_c;
    for (int32_t rows = w->shape.kernel_h; rows > 0; --rows, from += w->row_step, to += w->run) {
      pl_expand_rows_s8(from, from + step, w->run, to);
    }
    skip(w, 2);
    return;
  }
  const int32_t aligned = (depth + 3) & ~3;
  copy_window(w, image, copied);
  if (second) copy_window(w, image, copied + aligned);
  pl_expand_rows_s8(copied, copied + second * aligned, depth, to);
}

// Some windows of a group of an image.
static void convolve_band(const pl_gemm_taps *layer, windows *w, pl_taps_call *call,
                          const int8_t *image, int32_t count, int32_t depth, int32_t y_stride,
                          int8_t *output, uint32_t *scratch) {
  uint32_t *const weights = scratch + layer->depth;
  int8_t *const copied = (int8_t *)weights + pl_taps_block_bytes(layer);
  const windows first = *w;
  for (int32_t c = 0; c < layer->channels;) {
    const int32_t channels = pl_expand_weights_s8(layer, c, weights);
    *w = first;
    call->y = output + c;
    for (int32_t left = count; left > 0; left -= 2) {
      const int32_t second = left > 1;
      expand_windows(w, image, second, depth, scratch, copied);
      call->y_end = call->y + channels;
      call->y_step = second * y_stride;
      layer->multiply(call);
      call->y += 2 * y_stride;
    }
    c += channels;
  }
}

// A function of its own: an image with several of the kernels below links it once, and links only
// the im2col copies it needs.
static __attribute__((noinline)) pl_status convolve(const pl_context *ctx,
                                                    const pl_conv2d_taps_params *params,
                                                    const pl_conv2d_taps_dims *dims,
                                                    const pl_conv2d_taps_data *data,
                                                    int32_t stage_words, pl_multiply_taps *multiply,
                                                    pl_gather_window *gather) {
  const int32_t tap_c = dims->input_c / dims->groups;
  const int dense = dims->kernel_w == 1 || (params->dilation_w == 1 && dims->groups == 1);
  const int32_t run = dims->kernel_w * tap_c;
  const int32_t depth = dims->kernel_h * run;
  pl_gemm_taps layer = {
      .weight = data->weight,
      .stage = data->stage,
      .depth = (depth + 3) & ~3,
      .channels = dims->output_c / dims->groups,
      .block = dims->expanded,
      .stage_words = stage_words,
      .multiply = multiply,
  };
  const int32_t scratch =
      pl_taps_rows_bytes(layer.depth) + pl_taps_block_bytes(&layer) + 2 * layer.depth;
  if (ctx->scratch_size < (uint32_t)scratch) return PL_ERROR_SCRATCH_SIZE;
  windows w = {
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
      .gather = gather,
      .stride_h = params->stride_h,
      .stride_w = params->stride_w,
      .pad_left = params->pad_left,
      .output_w = dims->output_w,
      .run = run,
      .row_step = params->dilation_h * dims->input_w * dims->input_c,
      .last_y = dims->input_h - 1 - (dims->kernel_h - 1) * params->dilation_h,
      .last_x = dense ? dims->input_w - dims->kernel_w : -1,
      .words = ((run | dims->input_c * params->stride_w |
                 params->dilation_h * dims->input_w * dims->input_c) &
                3) == 0,
  };
  uint32_t *const x = ctx->scratch;
  pl_taps_call call = {
      .x = x,
      .x_end = x + layer.depth,
      .weight = x + layer.depth,
      .low_xor_top = params->activation_min ^ params->activation_max,
      .top = params->activation_max,
  };
  for (int32_t group = 0; group < dims->groups; ++group) {
    const int8_t *image = data->input + group * tap_c;
    int8_t *output = data->output + group * layer.channels;
    for (int32_t batch = 0; batch < dims->batches; ++batch) {
      w.ox = 0;
      w.x = -params->pad_left;
      w.y = -params->pad_top;
      for (int32_t left = dims->output_h * dims->output_w; left > 0; left -= dims->band) {
        const int32_t count = left < dims->band ? left : dims->band;
        convolve_band(&layer, &w, &call, image, count, depth, dims->output_c, output, x);
        output += count * dims->output_c;
      }
      image += dims->input_h * dims->input_w * dims->input_c;
    }
    layer.weight += layer.channels * layer.depth;
    layer.stage += layer.channels * stage_words;
  }
  return PL_OK;
}

pl_status pl_conv2d_taps_s8(const pl_context *ctx, const pl_conv2d_taps_params *params,
                            const pl_conv2d_taps_dims *dims, const pl_conv2d_taps_data *data) {
  return convolve(ctx, params, dims, data, PL_TAPS_STAGE, pl_multiply_taps_s8,
                  pl_gather_dense_window_s8);
}

pl_status pl_conv2d_signed_taps_s8(const pl_context *ctx, const pl_conv2d_taps_params *params,
                                   const pl_conv2d_taps_dims *dims,
                                   const pl_conv2d_taps_data *data) {
  return convolve(ctx, params, dims, data, PL_TAPS_SIGNED_STAGE, pl_multiply_signed_taps_s8,
                  pl_gather_dense_window_s8);
}

pl_status pl_conv2d_spread_taps_s8(const pl_context *ctx, const pl_conv2d_taps_params *params,
                                   const pl_conv2d_taps_dims *dims,
                                   const pl_conv2d_taps_data *data) {
  return convolve(ctx, params, dims, data, PL_TAPS_STAGE, pl_multiply_taps_s8,
                  pl_gather_spread_window_s8);
}

pl_status pl_conv2d_signed_spread_taps_s8(const pl_context *ctx,
                                          const pl_conv2d_taps_params *params,
                                          const pl_conv2d_taps_dims *dims,
                                          const pl_conv2d_taps_data *data) {
  return convolve(ctx, params, dims, data, PL_TAPS_SIGNED_STAGE, pl_multiply_signed_taps_s8,
                  pl_gather_spread_window_s8);
}
