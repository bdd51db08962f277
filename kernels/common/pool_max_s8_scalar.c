// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_s8.h"

// Channels sharing the loops over the taps.
#define CHANNELS 4

static inline int32_t larger(int32_t a, int32_t b) { return a > b ? a : b; }

typedef struct {
  int32_t of0;
  int32_t of1;
  int32_t of2;
  int32_t of3;
} maxima;

// Compared with taps of a row, too.
static inline maxima with_row(maxima max, const int8_t *x, int32_t columns, int32_t step) {
  for (; columns > 0; --columns, x += step) {
    max.of0 = larger(max.of0, x[0]);
    max.of1 = larger(max.of1, x[1]);
    max.of2 = larger(max.of2, x[2]);
    max.of3 = larger(max.of3, x[3]);
  }
  return max;
}

// The first tap is not compared with itself.
static void max_4(const pl_pool_window *window, const int8_t *first, int8_t *output) {
  const int32_t step = window->column_step;
  maxima max = {first[0], first[1], first[2], first[3]};
  max = with_row(max, first + step, window->columns - 1, step);
  for (int32_t row = window->rows - 1; row > 0; --row) {
    first += window->row_step;
    max = with_row(max, first, window->columns, step);
  }
  output[0] = (int8_t)max.of0;
  output[1] = (int8_t)max.of1;
  output[2] = (int8_t)max.of2;
  output[3] = (int8_t)max.of3;
}

static int8_t max_1(const pl_pool_window *window, const int8_t *first) {
  const int32_t step = window->column_step;
  int32_t max = *first;
  const int8_t *x = first + step;
  int32_t columns = window->columns - 1;
  for (int32_t row = window->rows;; columns = window->columns) {
    for (; columns > 0; --columns, x += step) max = larger(max, *x);
    if (--row == 0) return (int8_t)max;
    first += window->row_step;
    x = first;
  }
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
