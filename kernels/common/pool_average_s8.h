// SPDX-License-Identifier: Apache-2.0
// Average pools without Helium: four channels at a time, or all of one, two or three.
#ifndef KERNELS_COMMON_POOL_AVERAGE_S8_H_
#define KERNELS_COMMON_POOL_AVERAGE_S8_H_

#include "kernels/common/pool_s8.h"
#include "kernels/common/requantize.h"
#include "kernels/common/types.h"

// Channels that share the loops over the taps.
#define PL_AVERAGED 4

// The offset and the sums of four channels, the first of whose taps is at `first`.
typedef void (*pl_sums_of_4)(const pl_pool_window *window, int32_t offset, const int8_t *first,
                             int32_t sums[PL_AVERAGED]);

// As pl_average_windows_s8 takes them.
typedef struct {
  int32_t count;
  int32_t step;
  int32_t offset;
  int32_t divisor;
  int8_t *output;
} pl_averages;

// The half that rounds has the sum's sign.
static inline int8_t pl_divided(int32_t sum, int32_t divisor) {
  const int32_t sign = sum >> 31;
  const int32_t half = (divisor / 2 ^ sign) - sign;
  return (int8_t)PL_SATURATE((sum + half) / divisor, 8);
}

// Of four channels or more; the last four may be some of the four before them, again. One window
// comes after the other, whose results may lie over its taps.
PL_INLINE void pl_average_fours(pl_pool_window at, pl_averages of, pl_sums_of_4 sum_4) {
  const int32_t last = at.channels - PL_AVERAGED;
  for (; of.count > 0; --of.count, at.first += of.step, of.output += at.channels) {
    for (int32_t next = 0; next < at.channels; next += PL_AVERAGED) {
      const int32_t c = next < last ? next : last;
      int32_t sums[PL_AVERAGED];
      sum_4(&at, of.offset, at.first + c, sums);
      int8_t *output = of.output + c;
      output[0] = pl_divided(sums[0], of.divisor);
      output[1] = pl_divided(sums[1], of.divisor);
      output[2] = pl_divided(sums[2], of.divisor);
      output[3] = pl_divided(sums[3], of.divisor);
    }
  }
}

// Of two channels or three.
static inline void pl_average_2_or_3(pl_pool_window at, pl_averages of) {
  const int32_t last = at.channels - 1;
  for (; of.count > 0; --of.count, at.first += of.step, of.output += at.channels) {
    int32_t sums[PL_AVERAGED - 1];
    pl_sum_3_s8(&at, of.offset, at.first, last, sums);
    of.output[0] = pl_divided(sums[0], of.divisor);
    of.output[1] = pl_divided(sums[1], of.divisor);
    of.output[last] = pl_divided(sums[2], of.divisor);
  }
}

// Of less than four.
static inline void pl_average_few(pl_pool_window at, pl_averages of) {
  if (at.channels > 1) {
    pl_average_2_or_3(at, of);
    return;
  }
  for (; of.count > 0; --of.count, at.first += of.step) {
    *of.output++ = pl_divided(pl_sum_1_s8(&at, of.offset, at.first), of.divisor);
  }
}

#endif  // KERNELS_COMMON_POOL_AVERAGE_S8_H_
