// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"
#include "kernels/common/requantize.h"
#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

// A window, in the input or in scratch: its first tap and the steps to the next ones.
typedef struct {
  const int8_t *first;
  int32_t row_step;
  int32_t tap_step;
} window;

// Channels that share the loops over the taps, and those that are requantized together.
#define CHANNELS 4
#define BATCH 16

static void convolve_4(const pl_depthwise_conv2d_dims *dims, const window *from, int32_t channel,
                       const int8_t *weight, const int32_t *bias, int32_t acc[CHANNELS]) {
  const int32_t channels = dims->input_c;
  const int32_t tap_step = from->tap_step;
  int32_t sum0 = bias[channel];
  int32_t sum1 = bias[channel + 1];
  int32_t sum2 = bias[channel + 2];
  int32_t sum3 = bias[channel + 3];
  const int8_t *w = weight + channel;
  const int8_t *row = from->first + channel;
  for (int32_t ky = dims->kernel_h; ky > 0; --ky) {
    const int8_t *x = row;
    for (int32_t kx = dims->kernel_w; kx > 0; --kx) {
      sum0 += x[0] * w[0];
      sum1 += x[1] * w[1];
      sum2 += x[2] * w[2];
      sum3 += x[3] * w[3];
      x += tap_step;
      w += channels;
    }
    row += from->row_step;
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
}

static int32_t convolve_1(const pl_depthwise_conv2d_dims *dims, const window *from, int32_t channel,
                          const int8_t *weight, const int32_t *bias) {
  int32_t sum = bias[channel];
  const int8_t *w = weight + channel;
  const int8_t *row = from->first + channel;
  for (int32_t ky = dims->kernel_h; ky > 0; --ky) {
    const int8_t *x = row;
    for (int32_t kx = dims->kernel_w; kx > 0; --kx) {
      sum += *x * *w;
      x += from->tap_step;
      w += dims->input_c;
    }
    row += from->row_step;
  }
  return sum;
}

static void convolve_window(const pl_depthwise_conv2d_dims *dims,
                            const pl_depthwise_conv2d_data *data, const pl_output_stage *stage,
                            const window *from, int8_t *output) {
  int32_t acc[BATCH];
  for (int32_t begin = 0; begin < dims->input_c; begin += BATCH) {
    const int32_t left = dims->input_c - begin;
    const int32_t count = left < BATCH ? left : BATCH;
    int32_t i = 0;
    for (; i <= count - CHANNELS; i += CHANNELS) {
      convolve_4(dims, from, begin + i, data->weight, data->bias, acc + i);
    }
    for (; i < count; ++i) acc[i] = convolve_1(dims, from, begin + i, data->weight, data->bias);
    pl_requantize_channels(stage, begin, count, acc, output + begin);
  }
}

// Copies a window whose first tap is (y0, x0), padding read as the zero point.
static void gather(const pl_depthwise_conv2d_params *params, const pl_depthwise_conv2d_dims *dims,
                   const int8_t *image, int32_t y0, int32_t x0, int8_t *to) {
  const int32_t channels = dims->input_c;
  for (int32_t ky = 0; ky < dims->kernel_h; ++ky) {
    const int32_t y = y0 + ky * params->dilation_h;
    for (int32_t kx = 0; kx < dims->kernel_w; ++kx) {
      const int32_t x = x0 + kx * params->dilation_w;
      if (y >= 0 && y < dims->input_h && x >= 0 && x < dims->input_w) {
        pl_copy_bytes(to, image + (y * dims->input_w + x) * channels, channels);
      } else {
        pl_fill_bytes(to, (int8_t)params->input_zero_point, channels);
      }
      to += channels;
    }
  }
}

pl_status pl_depthwise_conv2d_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const pl_output_stage stage = {data->multiplier, data->shift, params->output_zero_point,
                                 params->activation_min, params->activation_max};
  const int32_t channels = dims->input_c;
  const int32_t row_bytes = dims->input_w * channels;
  // First taps up to these lie in a window that is inside.
  const int32_t last_y = dims->input_h - 1 - (dims->kernel_h - 1) * params->dilation_h;
  const int32_t last_x = dims->input_w - 1 - (dims->kernel_w - 1) * params->dilation_w;
  const window gathered = {ctx->scratch, dims->kernel_w * channels, channels};
  window inside = {NULL, params->dilation_h * row_bytes, params->dilation_w * channels};

  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const int32_t x = ox * params->stride_w - params->pad_left;
        if (y >= 0 && y <= last_y && x >= 0 && x <= last_x) {
          inside.first = image + y * row_bytes + x * channels;
          convolve_window(dims, data, &stage, &inside, output);
        } else {
          gather(params, dims, image, y, x, ctx->scratch);
          convolve_window(dims, data, &stage, &gathered, output);
        }
        output += channels;
      }
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}
