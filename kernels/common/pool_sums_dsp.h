// SPDX-License-Identifier: Apache-2.0
// Sums over short windows with the DSP extension.
#ifndef KERNELS_COMMON_POOL_SUMS_DSP_H_
#define KERNELS_COMMON_POOL_SUMS_DSP_H_

#include <stdbool.h>

#include "kernels/common/dsp.h"
#include "kernels/common/pool_s8.h"

static inline bool pl_is_short(const pl_pool_window *window) {
  return window->rows * window->columns <= PL_MAX_SHORT_TAPS;
}

// pl_sum_4_s8 of such a window: the sums are halves of two words.
static inline void pl_short_sum_4_s8(const pl_pool_window *window, int32_t offset,
                                     const int8_t *first, int32_t sums[4]) {
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

#endif  // KERNELS_COMMON_POOL_SUMS_DSP_H_
