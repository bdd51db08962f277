// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_s8.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

static void max_4(const pl_pool_window *window, const int8_t *first, int8_t *output) {
  const int32_t step = window->column_step;
  int32_t max0 = first[0];
  int32_t max1 = first[1];
  int32_t max2 = first[2];
  int32_t max3 = first[3];
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += step) {
      max0 = larger(max0, x[0]);
      max1 = larger(max1, x[1]);
      max2 = larger(max2, x[2]);
      max3 = larger(max3, x[3]);
    }
  }
  output[0] = (int8_t)max0;
  output[1] = (int8_t)max1;
  output[2] = (int8_t)max2;
  output[3] = (int8_t)max3;
}

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

void pl_max_windows_s8(const pl_pool_window *window, int32_t count, int32_t step, int8_t *output) {
  pl_pool_window at = *window;
  for (; count > 0; --count, at.first += step, output += at.channels) {
    int32_t c = 0;
    for (; c <= at.channels - CHANNELS; c += CHANNELS) {
      max_4(&at, at.first + c, output + c);
    }
    for (; c < at.channels; ++c) output[c] = max_1(&at, at.first + c);
  }
}
