// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/common/pool_average_s8.h"

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

// The sums are halves of two words.
static inline void short_sum_4(const pl_pool_window *window, int32_t offset, const int8_t *first,
                               int32_t sums[PL_AVERAGED]) {
  const int32_t step = window->column_step;
  int16x2_t even = 0;
  int16x2_t odd = 0;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += step) {
      const int8x4_t four = pl_load_4(x);
      even = pl_add_even_s16(even, four);
      odd = pl_add_odd_s16(odd, four);
    }
  }
  sums[0] = offset + (int16_t)even;
  sums[1] = offset + (int16_t)odd;
  sums[2] = offset + (even >> 16);
  sums[3] = offset + (odd >> 16);
}

void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output) {
  const pl_averages of = {count, step, offset, divisor, output};
  if (window->channels < PL_AVERAGED) {
    pl_average_few(*window, of);
  } else if (window->rows * window->columns <= MAX_TAPS) {
    pl_average_fours(*window, of, short_sum_4);
  } else {
    pl_average_fours(*window, of, pl_sum_4_s8);
  }
}
