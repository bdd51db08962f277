// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/common/pool_s8.h"

// Channels in a word.
#define CHANNELS 4

static inline void store_4(int8_t *output, int8x4_t four) { __builtin_memcpy(output, &four, 4); }

static int8x4_t max_4(const pl_pool_window *window, const int8_t *first) {
  const int32_t step = window->column_step;
  int8x4_t max = pl_load_4(first);
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += step) {
      max = pl_larger_4_s8(max, pl_load_4(x));
    }
  }
  return max;
}

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static int8_t max_1(const pl_pool_window *window, const int8_t *first) {
  int32_t max = *first;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += window->column_step) {
      max = larger(max, *x);
    }
  }
  return (int8_t)max;
}

// For two channels or three. A separate function, because GCC otherwise has no registers left for
// four.
static __attribute__((noinline)) void few_channels(const pl_pool_window *window, int32_t count,
                                                   int32_t step, int8_t *output) {
  const int8_t *first = window->first;
  const int32_t last = window->channels - 1;
  for (; count > 0; --count, first += step, output += window->channels) {
    int32_t max0 = INT8_MIN;
    int32_t max1 = INT8_MIN;
    int32_t max2 = INT8_MIN;
    const int8_t *start = first;
    for (int32_t row = window->rows; row > 0; --row, start += window->row_step) {
      const int8_t *x = start;
      for (int32_t column = window->columns; column > 0; --column, x += window->column_step) {
        max0 = larger(max0, x[0]);
        max1 = larger(max1, x[1]);
        max2 = larger(max2, x[last]);
      }
    }
    output[0] = (int8_t)max0;
    output[1] = (int8_t)max1;
    output[last] = (int8_t)max2;
  }
}

void pl_max_windows_s8(const pl_pool_window *window, int32_t count, int32_t step, int8_t *output) {
  if (window->channels == 2 || window->channels == 3) {
    few_channels(window, count, step, output);
    return;
  }
  pl_pool_window at = *window;
  for (; count > 0; --count, at.first += step, output += at.channels) {
    int32_t c = 0;
    for (; c <= at.channels - CHANNELS; c += CHANNELS) {
      store_4(output + c, max_4(&at, at.first + c));
    }
    for (; c < at.channels; ++c) output[c] = max_1(&at, at.first + c);
  }
}
