// SPDX-License-Identifier: Apache-2.0
// Sums over windows without Helium, for four channels at a time, or for all channels if there are
// fewer.
#ifndef KERNELS_COMMON_POOL_BY_4_S8_H_
#define KERNELS_COMMON_POOL_BY_4_S8_H_

#include "kernels/common/pool_s8.h"
#include "kernels/common/types.h"

// Channels sharing the loops over the taps.
#define PL_CHANNELS 4

// Consecutive windows. Each is finished before the next one, because its result may alias the taps.
typedef struct {
  int32_t count;
  int32_t step;    // bytes from a window to the next
  int32_t offset;  // of the sums
  int8_t *output;
} pl_windows;

// The offset plus the sums of four channels; the first channel's first tap is at `first`.
typedef void (*pl_sums_of_4)(const pl_pool_window *window, int32_t offset, const int8_t *first,
                             int32_t sums[PL_CHANNELS]);

// Output stage for a sum.
typedef int8_t (*pl_result_of)(const void *stage, int32_t sum);

// For four channels or more; the last four may overlap the four before them.
PL_INLINE void pl_pool_fours(pl_pool_window at, pl_windows of, pl_sums_of_4 sum_4,
                             const void *stage, pl_result_of result) {
  const int32_t last = at.channels - PL_CHANNELS;
  for (; of.count > 0; --of.count, at.first += of.step, of.output += at.channels) {
    for (int32_t next = 0; next < at.channels; next += PL_CHANNELS) {
      const int32_t c = next < last ? next : last;
      int32_t sums[PL_CHANNELS];
      sum_4(&at, of.offset, at.first + c, sums);
      int8_t *output = of.output + c;
      output[0] = result(stage, sums[0]);
      output[1] = result(stage, sums[1]);
      output[2] = result(stage, sums[2]);
      output[3] = result(stage, sums[3]);
    }
  }
}

// For less than four.
PL_INLINE void pl_pool_few(pl_pool_window at, pl_windows of, const void *stage,
                           pl_result_of result) {
  const int32_t last = at.channels - 1;
  for (; last > 0 && of.count > 0; --of.count, at.first += of.step, of.output += at.channels) {
    int32_t sums[PL_CHANNELS - 1];
    pl_sum_3_s8(&at, of.offset, at.first, last, sums);
    of.output[0] = result(stage, sums[0]);
    of.output[1] = result(stage, sums[1]);
    of.output[last] = result(stage, sums[2]);
  }
  for (; of.count > 0; --of.count, at.first += of.step, ++of.output) {
    *of.output = result(stage, pl_sum_1_s8(&at, of.offset, at.first));
  }
}

#endif  // KERNELS_COMMON_POOL_BY_4_S8_H_
