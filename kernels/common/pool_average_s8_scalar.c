// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_s8.h"
#include "kernels/common/requantize.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

static inline int8_t divide(int32_t sum, int32_t divisor) {
  const int32_t half = divisor / 2;
  return (int8_t)pl_clamp((sum < 0 ? sum - half : sum + half) / divisor, INT8_MIN, INT8_MAX);
}

// Windows one after the other, of channels of which each has its loop.
typedef struct {
  int32_t count;
  int32_t step;
  int32_t offset;
  int32_t divisor;
  int8_t *output;
} averages;

// The first so many channels, a multiple of four.
static void average_fours(pl_pool_window at, averages of, int32_t channels) {
  for (; of.count > 0; --of.count, at.first += of.step, of.output += at.channels) {
    for (int32_t c = 0; c < channels; c += CHANNELS) {
      int32_t sums[CHANNELS];
      pl_sum_4_s8(&at, of.offset, at.first + c, sums);
      int8_t *output = of.output + c;
      output[0] = divide(sums[0], of.divisor);
      output[1] = divide(sums[1], of.divisor);
      output[2] = divide(sums[2], of.divisor);
      output[3] = divide(sums[3], of.divisor);
    }
  }
}

// Two or three, the last `last` behind the first.
static void average_few(pl_pool_window at, averages of, int32_t last) {
  for (; of.count > 0; --of.count, at.first += of.step, of.output += at.channels) {
    int32_t sums[CHANNELS - 1];
    pl_sum_3_s8(&at, of.offset, at.first, last, sums);
    of.output[0] = divide(sums[0], of.divisor);
    of.output[1] = divide(sums[1], of.divisor);
    of.output[last] = divide(sums[2], of.divisor);
  }
}

static void average_one(pl_pool_window at, averages of) {
  for (; of.count > 0; --of.count, at.first += of.step, of.output += at.channels) {
    *of.output = divide(pl_sum_1_s8(&at, of.offset, at.first), of.divisor);
  }
}

void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output) {
  pl_pool_window at = *window;
  averages of = {count, step, offset, divisor, output};
  const int32_t last = at.channels % CHANNELS - 1;
  const int32_t fours = at.channels - 1 - last;
  if (fours > 0) average_fours(at, of, fours);
  at.first += fours;
  of.output += fours;
  if (last > 0) {
    average_few(at, of, last);
  } else if (last == 0) {
    average_one(at, of);
  }
}
