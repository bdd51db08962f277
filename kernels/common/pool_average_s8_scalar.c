// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_s8.h"
#include "kernels/common/requantize.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

static inline int8_t divide(int32_t sum, int32_t divisor) {
  const int32_t half = divisor / 2;
  return (int8_t)pl_clamp((sum < 0 ? sum - half : sum + half) / divisor, INT8_MIN, INT8_MAX);
}

static void average_4(const pl_pool_window *window, const int8_t *first, int32_t offset,
                      int32_t divisor, int8_t *output) {
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
  output[0] = divide(sum0, divisor);
  output[1] = divide(sum1, divisor);
  output[2] = divide(sum2, divisor);
  output[3] = divide(sum3, divisor);
}

static int8_t average_1(const pl_pool_window *window, const int8_t *first, int32_t offset,
                        int32_t divisor) {
  int32_t sum = offset;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t column = window->columns; column > 0; --column, x += window->column_step) {
      sum += *x;
    }
  }
  return divide(sum, divisor);
}

void pl_average_window_s8(const pl_pool_window *window, int32_t offset, int32_t divisor,
                          int8_t *output) {
  int32_t c = 0;
  for (; c <= window->channels - CHANNELS; c += CHANNELS) {
    average_4(window, window->first + c, offset, divisor, output + c);
  }
  for (; c < window->channels; ++c) {
    output[c] = average_1(window, window->first + c, offset, divisor);
  }
}
