// SPDX-License-Identifier: Apache-2.0
// The inner part of pooling: one window of an NHWC image, all channels.
#ifndef KERNELS_COMMON_POOL_S8_H_
#define KERNELS_COMMON_POOL_S8_H_

#include <stdint.h>

// Number of int8 values fitting a sum of 16 bits.
#define PL_MAX_SHORT_TAPS 255

// Taps of a window along one axis that lie inside the input.
typedef struct {
  int32_t begin;
  int32_t count;
} pl_taps;

// Selects the taps in [0, size) from start, start + dilation, ... (`kernel` of them).
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

// The offset plus the sum of one channel; its first tap is at `first`.
static inline int32_t pl_sum_1_s8(const pl_pool_window *window, int32_t offset,
                                  const int8_t *first) {
  int32_t sum = offset;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += window->column_step) {
      sum += *x;
    }
  }
  return sum;
}

// Likewise for two channels or three; the last one is `last` after the first.
static inline void pl_sum_3_s8(const pl_pool_window *window, int32_t offset, const int8_t *first,
                               int32_t last, int32_t sums[3]) {
  const int32_t step = window->column_step;
  int32_t sum0 = offset;
  int32_t sum1 = offset;
  int32_t sum2 = offset;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += step) {
      sum0 += x[0];
      sum1 += x[1];
      sum2 += x[last];
    }
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
}

// Likewise for four channels, which share the loops over the taps.
static inline void pl_sum_4_s8(const pl_pool_window *window, int32_t offset, const int8_t *first,
                               int32_t sums[4]) {
  const int32_t step = window->column_step;
  int32_t sum0 = offset;
  int32_t sum1 = offset;
  int32_t sum2 = offset;
  int32_t sum3 = offset;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += step) {
      sum0 += x[0];
      sum1 += x[1];
      sum2 += x[2];
      sum3 += x[3];
    }
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

// Windows of a row without taps outside of the input: those of outputs begin to end.
typedef struct {
  int32_t begin;
  int32_t end;
} pl_whole_windows;

// Selects among `count` windows, `stride` apart; the last tap of a window is reach - 1 after the
// first.
static inline pl_whole_windows pl_whole_windows_of(int32_t pad, int32_t stride, int32_t reach,
                                                   int32_t size, int32_t count) {
  pl_whole_windows whole = {0, 0};
  int32_t start = -pad;
  for (; start < 0; start += stride) ++whole.begin;
  whole.end = whole.begin;
  for (; whole.end < count && start + reach <= size; start += stride) ++whole.end;
  return whole;
}

// Number of windows from this one on computed together: all whole ones, or one.
static inline int32_t pl_windows_together(pl_whole_windows whole, int32_t at) {
  return at >= whole.begin && at < whole.end ? whole.end - at : 1;
}

// For `count` windows, each `step` bytes after the one before, one after another: output[c] =
// maximum over the window; it has at least one tap.
void pl_max_windows_s8(const pl_pool_window *window, int32_t count, int32_t step, int8_t *output);

// output[c] = (sum over the window + offset) / divisor, ties away from zero, saturated.
void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output);

#endif  // KERNELS_COMMON_POOL_S8_H_
