// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/depthwise_s16.h"
#include "kernels/common/wide.h"

// Channels sharing the loops over the taps.
#define CHANNELS 4

// Writes one channel, of the sum of its products.
static inline void store(const pl_depthwise_s16 *of, int32_t sum, int32_t channel,
                         int16_t *output) {
  output[channel] = (int16_t)pl_wide_narrow_high(of->bias[channel] + sum, of->multiplier[channel],
                                                 of->right[channel], of->minimum, of->maximum);
}

// Four channels, from c on. Their sums are no array: GCC would keep it in memory.
static void add_up_4(const pl_depthwise_s16 *of, const pl_depthwise_taps *taps, int32_t c,
                     int16_t *output) {
  const int32_t column_step = of->column_step;
  const int32_t channels = of->channels;
  const int16_t *row = taps->first + c;
  const int8_t *weight = taps->weight + c;
  int32_t sum0 = 0;
  int32_t sum1 = 0;
  int32_t sum2 = 0;
  int32_t sum3 = 0;
  for (int32_t rows = taps->rows; rows > 0; --rows) {
    const int16_t *x = row;
    const int8_t *w = weight;
    for (int32_t left = taps->columns; left > 0; --left, x += column_step, w += channels) {
      sum0 += x[0] * w[0];
      sum1 += x[1] * w[1];
      sum2 += x[2] * w[2];
      sum3 += x[3] * w[3];
    }
    row += of->row_step;
    weight += of->weight_step;
  }
  store(of, sum0, c, output);
  store(of, sum1, c + 1, output);
  store(of, sum2, c + 2, output);
  store(of, sum3, c + 3, output);
}

static void add_up_1(const pl_depthwise_s16 *of, const pl_depthwise_taps *taps, int32_t c,
                     int16_t *output) {
  const int32_t column_step = of->column_step;
  const int32_t channels = of->channels;
  const int16_t *row = taps->first + c;
  const int8_t *weight = taps->weight + c;
  int32_t sum = 0;
  for (int32_t rows = taps->rows; rows > 0; --rows) {
    const int16_t *x = row;
    const int8_t *w = weight;
    for (int32_t left = taps->columns; left > 0; --left, x += column_step, w += channels) {
      sum += *x * *w;
    }
    row += of->row_step;
    weight += of->weight_step;
  }
  store(of, sum, c, output);
}

void pl_depthwise_window_s16(const pl_depthwise_s16 *of, const pl_depthwise_taps *taps,
                             int16_t *output) {
  int32_t c = 0;
  for (; c <= of->channels - CHANNELS; c += CHANNELS) add_up_4(of, taps, c, output);
  for (; c < of->channels; ++c) add_up_1(of, taps, c, output);
}
