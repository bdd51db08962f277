// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/common/window_s8.h"
#include "kernels/depthwise_conv2d/depthwise_conv2d.h"

// A window, in the input or in scratch. Taps of a row are next to each other.
typedef struct {
  const int8_t *first;
  int32_t row_step;
} window;

// Channels sharing the loops over the taps, and channels requantized together.
#define CHANNELS 8
#define FOUR 4
#define BATCH 16

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

// A function of its own, so that all registers are free for the sums and the loops over the taps.
static __attribute__((noinline)) void convolve_8(const pl_depthwise_conv2d_dims *dims,
                                                 const window *from, int32_t channel,
                                                 const int8_t *weight, const int32_t *bias,
                                                 int32_t acc[CHANNELS]) {
  const int32_t step = dims->input_c;
  const int32_t row_gap = from->row_step - dims->kernel_w * step;
  int32_t sum0 = bias[channel];
  int32_t sum1 = bias[channel + 1];
  int32_t sum2 = bias[channel + 2];
  int32_t sum3 = bias[channel + 3];
  int32_t sum4 = bias[channel + 4];
  int32_t sum5 = bias[channel + 5];
  int32_t sum6 = bias[channel + 6];
  int32_t sum7 = bias[channel + 7];
  const int8_t *w = weight + channel;
  const int8_t *x = from->first + channel;
  for (int32_t ky = dims->kernel_h; ky > 0; --ky) {
    for (int32_t kx = dims->kernel_w; kx > 0; --kx) {
      sum0 += x[0] * w[0];
      sum1 += x[1] * w[1];
      sum2 += x[2] * w[2];
      sum3 += x[3] * w[3];
      sum4 += x[4] * w[4];
      sum5 += x[5] * w[5];
      sum6 += x[6] * w[6];
      sum7 += x[7] * w[7];
      x += step;
      w += step;
    }
    x += row_gap;
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
  acc[4] = sum4;
  acc[5] = sum5;
  acc[6] = sum6;
  acc[7] = sum7;
}

static __attribute__((noinline)) void convolve_4(const pl_depthwise_conv2d_dims *dims,
                                                 const window *from, int32_t channel,
                                                 const int8_t *weight, const int32_t *bias,
                                                 int32_t acc[FOUR]) {
  const int32_t step = dims->input_c;
  const int32_t row_gap = from->row_step - dims->kernel_w * step;
  int32_t sum0 = bias[channel];
  int32_t sum1 = bias[channel + 1];
  int32_t sum2 = bias[channel + 2];
  int32_t sum3 = bias[channel + 3];
  const int8_t *w = weight + channel;
  const int8_t *x = from->first + channel;
  for (int32_t ky = dims->kernel_h; ky > 0; --ky) {
    for (int32_t kx = dims->kernel_w; kx > 0; --kx) {
      sum0 += x[0] * w[0];
      sum1 += x[1] * w[1];
      sum2 += x[2] * w[2];
      sum3 += x[3] * w[3];
      x += step;
      w += step;
    }
    x += row_gap;
  }
  acc[0] = sum0;
  acc[1] = sum1;
  acc[2] = sum2;
  acc[3] = sum3;
}

static int32_t convolve_1(const pl_depthwise_conv2d_dims *dims, const window *from, int32_t channel,
                          const int8_t *weight, const int32_t *bias) {
  const int32_t step = dims->input_c;
  const int32_t w_step = step * dims->repeats;
  const int32_t row_gap = from->row_step - dims->kernel_w * step;
  int32_t sum = bias[channel];
  const int8_t *w = weight + channel;
  const int8_t *x = from->first + channel / dims->repeats;
  for (int32_t ky = dims->kernel_h; ky > 0; --ky) {
    for (int32_t kx = dims->kernel_w; kx > 0; --kx) {
      sum += *x * *w;
      x += step;
      w += w_step;
    }
    x += row_gap;
  }
  return sum;
}

// Channels from `begin` to the last one; their sums go to acc. They are the tail after the groups
// of eight. If inputs repeat, they are all channels, one by one. The last group may repeat some
// channels before it.
static __attribute__((noinline)) void convolve_rest(const pl_depthwise_conv2d_dims *dims,
                                                    const window *from,
                                                    const pl_depthwise_conv2d_data *data,
                                                    int32_t begin, int32_t count, int32_t *acc) {
  const int32_t channels = dims->input_c * dims->repeats;
  if (dims->repeats == 1 && channels >= CHANNELS && count > FOUR) {
    const int32_t i = smaller(0, channels - CHANNELS - begin);
    convolve_8(dims, from, begin + i, data->weight, data->bias, acc + i);
    return;
  }
  int32_t i = 0;
  // One tail channel takes less time alone.
  const int32_t by_4 = dims->repeats == 1 && channels >= FOUR ? count - 1 : 0;
  for (; i < by_4; i += FOUR) {
    const int32_t at = smaller(i, channels - FOUR - begin);
    convolve_4(dims, from, begin + at, data->weight, data->bias, acc + at);
  }
  for (; i < count; ++i) acc[i] = convolve_1(dims, from, begin + i, data->weight, data->bias);
}

static void convolve_window(const pl_depthwise_conv2d_dims *dims,
                            const pl_depthwise_conv2d_data *data, const pl_output_stage *stage,
                            const window *from, int32_t channels, int8_t *output) {
  // No groups of eight if inputs repeat.
  const int32_t eight = dims->repeats == 1 ? CHANNELS : BATCH + 1;
  // The tail may begin up to three channels before its own channels.
  int32_t sums[FOUR - 1 + BATCH];
  int32_t *const acc = sums + FOUR - 1;
  for (int32_t begin = 0; begin < channels; begin += BATCH) {
    const int32_t count = smaller(channels - begin, BATCH);
    int32_t i = 0;
    for (; i <= count - eight; i += CHANNELS) {
      convolve_8(dims, from, begin + i, data->weight, data->bias, acc + i);
    }
    if (i == count - FOUR && dims->repeats == 1) {
      convolve_4(dims, from, begin + i, data->weight, data->bias, acc + i);
    } else if (i < count) {
      convolve_rest(dims, from, data, begin + i, count - i, acc + i);
    }
    pl_requantize_channels(stage, begin, count, acc, output + begin);
  }
}

// A function of its own: an image with both kernels below links it once.
static __attribute__((noinline)) pl_status run(const pl_context *ctx,
                                               const pl_depthwise_conv2d_params *params,
                                               const pl_depthwise_conv2d_dims *dims,
                                               const pl_depthwise_conv2d_data *data,
                                               pl_gather_window *gather) {
  if (ctx->scratch_size < (uint32_t)dims->scratch_bytes) return PL_ERROR_SCRATCH_SIZE;
  const pl_output_stage stage = {data->multiplier, data->shift, params->output_zero_point,
                                 params->activation_min, params->activation_max};
  const int32_t channels = dims->input_c;
  const int32_t results = channels * dims->repeats;
  // If scratch holds more than a window, the windows of a row are copied as one wide window.
  const int in_rows = dims->scratch_bytes > dims->kernel_h * dims->kernel_w * channels;
  const int32_t step = params->stride_w * channels;
  const pl_window_shape shape = {
      .input_h = dims->input_h,
      .input_w = dims->input_w,
      .input_c = channels,
      .kernel_h = dims->kernel_h,
      .kernel_w = dims->kernel_w + (in_rows ? (dims->output_w - 1) * params->stride_w : 0),
      .dilation_h = params->dilation_h,
      .dilation_w = params->dilation_w,
      .tap_c = channels,
      .zero_point = (int8_t)params->input_zero_point,
  };
  const int32_t row_bytes = dims->input_w * channels;
  // Windows with the first tap up to here are inside, and dense.
  const int32_t last_y = dims->input_h - 1 - (dims->kernel_h - 1) * params->dilation_h;
  const int dense = params->dilation_w == 1 || dims->kernel_w == 1;
  const int32_t last_x = dense ? dims->input_w - dims->kernel_w : -1;

  const int8_t *image = data->input;
  int8_t *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t oy = 0; oy < dims->output_h; ++oy) {
      const int32_t y = oy * params->stride_h - params->pad_top;
      if (in_rows) gather(&shape, image, y, -params->pad_left, ctx->scratch);
      for (int32_t ox = 0; ox < dims->output_w; ++ox) {
        const int32_t x = ox * params->stride_w - params->pad_left;
        window from = {image + y * row_bytes + x * channels, params->dilation_h * row_bytes};
        if (in_rows) {
          from = (window){(const int8_t *)ctx->scratch + ox * step, shape.kernel_w * channels};
        } else if (y < 0 || y > last_y || x < 0 || x > last_x) {
          gather(&shape, image, y, x, ctx->scratch);
          from = (window){ctx->scratch, dims->kernel_w * channels};
        }
        convolve_window(dims, data, &stage, &from, results, output);
        output += results;
      }
    }
    image += dims->input_h * row_bytes;
  }
  return PL_OK;
}

pl_status pl_depthwise_conv2d_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_gather_dense_window_s8);
}

pl_status pl_depthwise_spread_s8(const pl_context *ctx, const pl_depthwise_conv2d_params *params,
                                 const pl_depthwise_conv2d_dims *dims,
                                 const pl_depthwise_conv2d_data *data) {
  return run(ctx, params, dims, data, pl_gather_spread_window_s8);
}
