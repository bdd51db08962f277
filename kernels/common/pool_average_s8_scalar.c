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
  int32_t sums[CHANNELS];
  pl_sum_4_s8(window, offset, first, sums);
  output[0] = divide(sums[0], divisor);
  output[1] = divide(sums[1], divisor);
  output[2] = divide(sums[2], divisor);
  output[3] = divide(sums[3], divisor);
}

void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output) {
  pl_pool_window at = *window;
  for (; count > 0; --count, at.first += step, output += at.channels) {
    int32_t c = 0;
    for (; c <= at.channels - CHANNELS; c += CHANNELS) {
      average_4(&at, at.first + c, offset, divisor, output + c);
    }
    for (; c < at.channels; ++c) {
      output[c] = divide(pl_sum_1_s8(&at, offset, at.first + c), divisor);
    }
  }
}
