// SPDX-License-Identifier: Apache-2.0
// The inner part of pooling: one window of an NHWC image, all channels.
#ifndef KERNELS_COMMON_POOL_S8_H_
#define KERNELS_COMMON_POOL_S8_H_

#include <stdint.h>

// Taps of a window along one axis that lie inside the input.
typedef struct {
  int32_t begin;
  int32_t count;
} pl_taps;

// Of the taps start, start + dilation, ... (`kernel` of them) those in [0, size).
static inline pl_taps pl_clip_taps(int32_t start, int32_t kernel, int32_t dilation, int32_t size) {
  if (start >= 0 && start + (kernel - 1) * dilation < size) return (pl_taps){start, kernel};
  pl_taps taps = {start, 0};
  for (; taps.begin < 0; taps.begin += dilation) --kernel;
  for (int32_t at = taps.begin; at < size && taps.count < kernel; at += dilation) ++taps.count;
  return taps;
}

typedef struct {
  const int8_t *first;  // channel 0 of the first tap
  int32_t rows;
  int32_t columns;
  int32_t row_step;     // bytes
  int32_t column_step;  // bytes
  int32_t channels;
} pl_pool_window;

// output[c] = maximum over the window; it has at least one tap.
void pl_max_window_s8(const pl_pool_window *window, int8_t *output);

// output[c] = (sum over the window + offset) / divisor, ties away from zero, saturated.
void pl_average_window_s8(const pl_pool_window *window, int32_t offset, int32_t divisor,
                          int8_t *output);

#endif  // KERNELS_COMMON_POOL_S8_H_
