// SPDX-License-Identifier: Apache-2.0
// The inner part of means of windows: one window of an NHWC image, all channels.
#ifndef KERNELS_COMMON_MEAN_WINDOW_S8_H_
#define KERNELS_COMMON_MEAN_WINDOW_S8_H_

#include <stdbool.h>

#include "kernels/common/pool_s8.h"
#include "kernels/common/requantize.h"

// Additional fraction bits of sums before they are multiplied.
#define PL_MEAN_GUARD_BITS 6
#define PL_MEAN_GUARD (1 << PL_MEAN_GUARD_BITS)

// Output stage for a sum.
typedef struct {
  int32_t offset;      // of the sum
  int32_t multiplier;  // [0, 2^31), of a sum with guard bits
  int32_t shift;
  int32_t output_zero_point;
} pl_mean_stage;

// Returns true if pl_requantize_down supports the factor.
static inline bool pl_divides(const pl_mean_stage *stage) {
  return stage->shift < 0 && stage->shift >= -20;
}

// Output of a stage.
static inline int8_t pl_mean_of(const void *stage, int32_t sum) {
  const pl_mean_stage *of = (const pl_mean_stage *)stage;
  const int32_t y = pl_requantize(sum * PL_MEAN_GUARD, of->multiplier, of->shift);
  return pl_narrow(y, of->output_zero_point, INT8_MIN, INT8_MAX);
}

// For `count` windows, each `step` bytes after the one before, one after another: output[c] =
// saturate(requantize((sum over the window + offset) * PL_MEAN_GUARD) + output_zero_point); the
// sums and the offset together are below 2^24.
void pl_mean_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                        const pl_mean_stage *stage, int8_t *output);

#endif  // KERNELS_COMMON_MEAN_WINDOW_S8_H_
