// SPDX-License-Identifier: Apache-2.0
// The inner part of pooling of int16: one window of an NHWC image, all channels.
#ifndef KERNELS_COMMON_POOL_S16_H_
#define KERNELS_COMMON_POOL_S16_H_

#include "kernels/common/requantize.h"
#include "kernels/common/types.h"

// Channels sharing the loops over the taps.
#define PL_WIDE_CHANNELS 4

// Taps that are all inside of the image.
typedef struct {
  int32_t rows;
  int32_t columns;
  int32_t row_step;     // elements
  int32_t column_step;  // elements
} pl_wide_window;

// Combines a value with the next tap; the second function converts the final value.
typedef int32_t pl_fold_tap(int32_t value, int32_t tap);
typedef int16_t pl_folded(int32_t value, int32_t divisor);

// Both functions are constants where this is inlined. Values are no array: GCC would keep it in
// memory.
PL_INLINE void pl_fold_window_s16(const pl_wide_window *window, const int16_t *first,
                                  int32_t channels, int32_t start, int32_t divisor,
                                  pl_fold_tap *fold, pl_folded *folded, int16_t *output) {
  const int32_t step = window->column_step;
  for (; channels >= PL_WIDE_CHANNELS; channels -= PL_WIDE_CHANNELS) {
    int32_t value0 = start;
    int32_t value1 = start;
    int32_t value2 = start;
    int32_t value3 = start;
    const int16_t *row = first;
    for (int32_t rows = window->rows; rows > 0; --rows, row += window->row_step) {
      const int16_t *x = row;
      for (int32_t columns = window->columns; columns > 0; --columns, x += step) {
        value0 = fold(value0, x[0]);
        value1 = fold(value1, x[1]);
        value2 = fold(value2, x[2]);
        value3 = fold(value3, x[3]);
      }
    }
    output[0] = folded(value0, divisor);
    output[1] = folded(value1, divisor);
    output[2] = folded(value2, divisor);
    output[3] = folded(value3, divisor);
    first += PL_WIDE_CHANNELS;
    output += PL_WIDE_CHANNELS;
  }
  for (; channels > 0; --channels, ++first) {
    int32_t value = start;
    const int16_t *row = first;
    for (int32_t rows = window->rows; rows > 0; --rows, row += window->row_step) {
      const int16_t *x = row;
      for (int32_t columns = window->columns; columns > 0; --columns, x += step) {
        value = fold(value, *x);
      }
    }
    *output++ = folded(value, divisor);
  }
}

static inline int32_t pl_larger_tap(int32_t value, int32_t tap) {
  return tap > value ? tap : value;
}

static inline int16_t pl_largest_tap(int32_t value, int32_t divisor) {
  (void)divisor;
  return (int16_t)value;
}

// output[c] = maximum over the window.
PL_INLINE void pl_max_window_s16(const pl_wide_window *window, const int16_t *first,
                                 int32_t channels, int16_t *output) {
  pl_fold_window_s16(window, first, channels, INT16_MIN, 1, pl_larger_tap, pl_largest_tap, output);
}

static inline int32_t pl_add_tap(int32_t value, int32_t tap) { return value + tap; }

static inline int16_t pl_average_of_taps(int32_t sum, int32_t divisor) {
  const int32_t half = divisor / 2;
  // Not 0: every window has a tap in the image (kernels/common/window.py).
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
  return (int16_t)pl_clamp((sum < 0 ? sum - half : sum + half) / divisor, INT16_MIN, INT16_MAX);
}

// output[c] = sum over the window / divisor, ties away from zero, saturated.
PL_INLINE void pl_average_window_s16(const pl_wide_window *window, const int16_t *first,
                                     int32_t channels, int32_t divisor, int16_t *output) {
  pl_fold_window_s16(window, first, channels, 0, divisor, pl_add_tap, pl_average_of_taps, output);
}

#endif  // KERNELS_COMMON_POOL_S16_H_
