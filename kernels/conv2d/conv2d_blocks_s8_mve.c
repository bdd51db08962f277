// SPDX-License-Identifier: Apache-2.0
// Windows of a row of the output share columns: copied to scratch column by column, each with all
// rows of the kernel, padding and all, they are runs that lie over one another, and a byte of the
// input is copied kernel_h times and not for each of its taps. The weights are packed with
// kernel_w before kernel_h.
//
// Where taps are apart, columns that are as far apart make such a run: the windows of a phase, of
// which there are `phases` in a row. Windows that are gathered one by one are in order.
#include <arm_mve.h>

#include "kernels/common/gemm_blocks_s8.h"
#include "kernels/conv2d/conv2d.h"

#define LANES 16

typedef struct {
  const pl_conv2d_params *params;
  const pl_conv2d_dims *dims;
  int32_t tap_c;
  int32_t phases;
  int32_t window_step;  // columns from one window of a phase to the next
  int8_t *columns;      // scratch: [columns][kernel_h][tap_c]
} windows;

// Copies `count` taps of `bytes` bytes.
static inline void copy_taps(const int8_t *from, int32_t from_step, int32_t count, int32_t bytes,
                             int8_t *to, int32_t to_step) {
  if (bytes == 1) {
    for (; count > 0; --count) {
      *to = *from;
      from += from_step;
      to += to_step;
    }
    return;
  }
  for (; bytes > 0; bytes -= LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)bytes);
    const int8_t *x = from;
    int8_t *y = to;
    for (int32_t left = count; left > 0; --left) {
      vstrbq_p_s8(y, vldrbq_z_s8(x, lanes), lanes);
      x += from_step;
      y += to_step;
    }
    from += LANES;
    to += LANES;
  }
}

static inline void fill_taps(int8x16_t value, int32_t count, int32_t bytes, int8_t *to,
                             int32_t to_step) {
  for (; count > 0; --count) {
    int8_t *y = to;
    for (int32_t left = bytes; left > 0; left -= LANES) {
      vstrbq_p_s8(y, value, vctp8q((uint32_t)left));
      y += LANES;
    }
    to += to_step;
  }
}

// Columns of taps (y, x), (y, x + dilation), … of an image.
static void copy_columns(const windows *w, const int8_t *image, int32_t y, int32_t x,
                         int32_t count) {
  const pl_conv2d_dims *const dims = w->dims;
  const int32_t step = w->params->dilation_w;
  const int32_t column = dims->kernel_h * w->tap_c;
  const int32_t outside = x < 0 ? (step - 1 - x) / step : 0;
  const int32_t within = x < dims->input_w ? (dims->input_w - 1 - x) / step + 1 : 0;
  const int32_t begin = outside < count ? outside : count;
  const int32_t end = within < begin ? begin : within < count ? within : count;
  const int8x16_t padding = vdupq_n_s8((int8_t)w->params->input_zero_point);
  int8_t *to = w->columns;
  for (int32_t ky = dims->kernel_h; ky > 0; --ky) {
    if (y < 0 || y >= dims->input_h) {
      fill_taps(padding, count, w->tap_c, to, column);
    } else {
      fill_taps(padding, begin, w->tap_c, to, column);
      copy_taps(image + (y * dims->input_w + x + begin * step) * dims->input_c,
                step * dims->input_c, end - begin, w->tap_c, to + begin * column, column);
      fill_taps(padding, count - end, w->tap_c, to + end * column, column);
    }
    y += w->params->dilation_h;
    to += w->tap_c;
  }
}

// One group of one image.
static void convolve(const windows *w, const pl_gemm_blocks_s8 *layer, const int8_t *image,
                     int8_t *output) {
  const pl_conv2d_params *const params = w->params;
  const pl_conv2d_dims *const dims = w->dims;
  const int32_t row = dims->input_w * dims->input_c;
  for (int32_t oy = 0; oy < dims->output_h; ++oy) {
    const int32_t y = oy * params->stride_h - params->pad_top;
    if (dims->gathered == 0) {  // each window is one run of the input
      pl_multiply_blocks_s8(layer, dims->output_w, image + y * row,
                            params->stride_w * dims->input_c, output, dims->output_c);
    }
    for (int32_t phase = 0; phase < w->phases; ++phase) {
      for (int32_t ox = phase; ox < dims->output_w; ox += dims->gathered * w->phases) {
        const int32_t left = (dims->output_w - 1 - ox) / w->phases + 1;
        const int32_t count = left < dims->gathered ? left : dims->gathered;
        copy_columns(w, image, y, ox * params->stride_w - params->pad_left,
                     (count - 1) * w->window_step + dims->kernel_w);
        pl_multiply_blocks_s8(layer, count, w->columns, w->window_step * dims->kernel_h * w->tap_c,
                              output + ox * dims->output_c, w->phases * dims->output_c);
      }
    }
    output += dims->output_w * dims->output_c;
  }
}

pl_status pl_conv2d_blocks_s8(const pl_context *ctx, const pl_conv2d_params *params,
                              const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  const int shared = dims->gathered == 1 || params->stride_w % params->dilation_w == 0;
  const windows w = {
      .params = params,
      .dims = dims,
      .tap_c = dims->input_c / dims->groups,
      .phases = dims->gathered == 0 ? 0
                : shared            ? 1
                                    : params->dilation_w,
      .window_step = shared ? params->stride_w / params->dilation_w : params->stride_w,
      .columns = ctx->scratch,
  };
  pl_gemm_blocks_s8 layer = {
      .weight = data->weight,
      .constants = data->bias,
      .depth = dims->kernel_h * dims->kernel_w * w.tap_c,
      .channels = dims->output_c / dims->groups,
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  const int32_t columns = (dims->gathered - 1) * w.window_step + dims->kernel_w;
  if (dims->gathered > 0 && ctx->scratch_size < (uint32_t)(columns * dims->kernel_h * w.tap_c)) {
    return PL_ERROR_SCRATCH_SIZE;
  }
  for (int32_t group = 0; group < dims->groups; ++group) {
    const int8_t *image = data->input + group * w.tap_c;
    int8_t *output = data->output + group * layer.channels;
    for (int32_t batch = 0; batch < dims->batches; ++batch) {
      convolve(&w, &layer, image, output);
      image += dims->input_h * dims->input_w * dims->input_c;
      output += dims->output_h * dims->output_w * dims->output_c;
    }
    layer.weight += dims->packed_c * ((layer.depth + LANES - 1) / LANES * LANES);
    layer.constants += 3 * dims->packed_c;
  }
  return PL_OK;
}
