// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/wide.h"
#include "kernels/depthwise_conv2d/windows_s16.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

// The sums of four channels from `channel` on, or of one.
static inline __attribute__((always_inline)) void add_taps(const pl_window_s16 *window,
                                                           int32_t channels, int32_t channel,
                                                           int32_t count, int32_t sum[CHANNELS]) {
  const int16_t *row = window->first + channel;
  const int8_t *weight = window->weight + channel;
  for (int32_t left = window->rows; left > 0; --left) {
    const int16_t *x = row;
    const int8_t *w = weight;
    for (int32_t taps = window->columns; taps > 0; --taps) {
      for (int32_t i = 0; i < count; ++i) sum[i] += x[i] * w[i];
      x += window->column_step;
      w += channels;
    }
    row += window->row_step;
    weight += window->weight_step;
  }
}

static void convolve(const pl_depthwise_conv2d_s16_params *params, int32_t channels,
                     const pl_depthwise_conv2d_s16_data *data, const pl_window_s16 *window,
                     int16_t *output) {
  for (int32_t c = 0; c < channels;) {
    const int32_t count = channels - c < CHANNELS ? 1 : CHANNELS;
    int32_t sum[CHANNELS] = {0};
    if (count == CHANNELS) {
      add_taps(window, channels, c, CHANNELS, sum);
    } else {
      add_taps(window, channels, c, 1, sum);
    }
    for (int32_t i = 0; i < count; ++i, ++c) {
      output[c] =
          (int16_t)pl_wide_narrow_high(data->bias[c] + sum[i], data->multiplier[c], data->right[c],
                                       params->activation_min, params->activation_max);
    }
  }
}

pl_status pl_depthwise_conv2d_s16(const pl_context *ctx,
                                  const pl_depthwise_conv2d_s16_params *params,
                                  const pl_depthwise_conv2d_s16_dims *dims,
                                  const pl_depthwise_conv2d_s16_data *data) {
  (void)ctx;
  return pl_depthwise_windows_s16(params, dims, data, convolve);
}
