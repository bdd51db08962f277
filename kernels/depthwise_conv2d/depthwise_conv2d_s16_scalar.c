// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"
#include "kernels/depthwise_conv2d/windows_s16.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

// Writes one channel, of the sum of its products.
static inline void store(const pl_depthwise_conv2d_s16_params *params,
                         const pl_depthwise_conv2d_s16_data *data, int32_t sum, int32_t channel,
                         int16_t *output) {
  output[channel] = (int16_t)pl_wide_narrow_high(data->bias[channel] + sum,
                                                 data->multiplier[channel], data->right[channel],
                                                 params->activation_min, params->activation_max);
}

// Four channels, from c on. Their sums are no array: GCC would keep it in memory.
static void convolve_4(const pl_depthwise_conv2d_s16_params *params, int32_t channels,
                       const pl_depthwise_conv2d_s16_data *data, const pl_window_s16 *window,
                       int32_t c, int16_t *output) {
  const int32_t column_step = window->column_step;
  const int16_t *row = window->first + c;
  const int8_t *weight = window->weight + c;
  int32_t sum0 = 0;
  int32_t sum1 = 0;
  int32_t sum2 = 0;
  int32_t sum3 = 0;
  for (int32_t left = window->rows; left > 0; --left) {
    const int16_t *x = row;
    const int8_t *w = weight;
    for (int32_t taps = window->columns; taps > 0; --taps, x += column_step, w += channels) {
      sum0 += x[0] * w[0];
      sum1 += x[1] * w[1];
      sum2 += x[2] * w[2];
      sum3 += x[3] * w[3];
    }
    row += window->row_step;
    weight += window->weight_step;
  }
  store(params, data, sum0, c, output);
  store(params, data, sum1, c + 1, output);
  store(params, data, sum2, c + 2, output);
  store(params, data, sum3, c + 3, output);
}

static void convolve_1(const pl_depthwise_conv2d_s16_params *params, int32_t channels,
                       const pl_depthwise_conv2d_s16_data *data, const pl_window_s16 *window,
                       int32_t c, int16_t *output) {
  const int32_t column_step = window->column_step;
  const int16_t *row = window->first + c;
  const int8_t *weight = window->weight + c;
  int32_t sum = 0;
  for (int32_t left = window->rows; left > 0; --left) {
    const int16_t *x = row;
    const int8_t *w = weight;
    for (int32_t taps = window->columns; taps > 0; --taps, x += column_step, w += channels) {
      sum += *x * *w;
    }
    row += window->row_step;
    weight += window->weight_step;
  }
  store(params, data, sum, c, output);
}

static void convolve(const pl_depthwise_conv2d_s16_params *params, int32_t channels,
                     const pl_depthwise_conv2d_s16_data *data, const pl_window_s16 *window,
                     int16_t *output) {
  int32_t c = 0;
  for (; c <= channels - CHANNELS; c += CHANNELS) {
    convolve_4(params, channels, data, window, c, output);
  }
  for (; c < channels; ++c) convolve_1(params, channels, data, window, c, output);
}

pl_status pl_depthwise_conv2d_s16(const pl_context *ctx,
                                  const pl_depthwise_conv2d_s16_params *params,
                                  const pl_depthwise_conv2d_s16_dims *dims,
                                  const pl_depthwise_conv2d_s16_data *data) {
  (void)ctx;
  return pl_depthwise_windows_s16(params, dims, data, convolve);
}
