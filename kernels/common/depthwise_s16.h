// SPDX-License-Identifier: Apache-2.0
// A window of int16 values, each channel with its own weights, if all sums fit 32 bits.
#ifndef KERNELS_COMMON_DEPTHWISE_S16_H_
#define KERNELS_COMMON_DEPTHWISE_S16_H_

#include <stdint.h>

typedef struct {
  int32_t channels;
  int32_t row_step;           // of the input, from row to row of taps
  int32_t column_step;        // likewise, from tap to tap
  int32_t weight_step;        // of the weights, from row to row
  const int32_t *bias;        // [channels]
  const int32_t *multiplier;  // [channels]
  const int32_t *right;       // [channels], -1 - shift, in [1, 30]
  int32_t minimum;
  int32_t maximum;
} pl_depthwise_s16;

// The taps of a window inside of the input; all others are 0.
typedef struct {
  const int16_t *first;
  const int8_t *weight;  // [columns][channels] of each row
  int32_t rows;
  int32_t columns;
} pl_depthwise_taps;

// All channels of a pixel: clamp(bias + sum of x * weight, times multiplier / 2^32 / 2^right),
// rounded as in wide.h.
void pl_depthwise_window_s16(const pl_depthwise_s16 *of, const pl_depthwise_taps *taps,
                             int16_t *output);

#endif  // KERNELS_COMMON_DEPTHWISE_S16_H_
