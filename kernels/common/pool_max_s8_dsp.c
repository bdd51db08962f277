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

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

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

// Two channels or three, of which the last is at `last`.
static void max_3(const pl_pool_window *window, int32_t last, int8_t *output) {
  const int8_t *first = window->first;
  int32_t max0 = INT8_MIN;
  int32_t max1 = INT8_MIN;
  int32_t max2 = INT8_MIN;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
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

void pl_max_windows_s8(const pl_pool_window *window, int32_t count, int32_t step, int8_t *output) {
  pl_pool_window at = *window;
  for (; count > 0; --count, at.first += step, output += at.channels) {
    if (at.channels == 1) {
      output[0] = max_1(&at, at.first);
    } else if (at.channels < CHANNELS) {
      max_3(&at, at.channels - 1, output);
    } else {
      for (int32_t c = 0; c < at.channels; c += CHANNELS) {
        // The last four channels may have some of the four before them, again.
        const int32_t four = smaller(c, at.channels - CHANNELS);
        store_4(output + four, max_4(&at, at.first + four));
      }
    }
  }
}
