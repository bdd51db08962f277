// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/mean_window_s8.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

static inline int8_t narrow(int32_t sum, int32_t multiplier, int32_t right, int32_t rounding) {
  return (int8_t)pl_clamp(pl_requantize_down(sum * PL_MEAN_GUARD, multiplier, right, rounding),
                          INT8_MIN, INT8_MAX);
}

// For factors that pl_requantize_down takes.
static inline void divided_mean_4(const pl_pool_window *window, const pl_mean_stage *stage,
                                  const int8_t *first, int8_t *output) {
  int32_t sums[CHANNELS];
  pl_sum_4_s8(window, stage->offset, first, sums);
  const int32_t multiplier = stage->multiplier;
  const int32_t right = -stage->shift - 1;
  const int32_t rounding = 2 * stage->output_zero_point + 1;
  output[0] = narrow(sums[0], multiplier, right, rounding);
  output[1] = narrow(sums[1], multiplier, right, rounding);
  output[2] = narrow(sums[2], multiplier, right, rounding);
  output[3] = narrow(sums[3], multiplier, right, rounding);
}

static void mean_4(const pl_pool_window *window, const pl_mean_stage *stage, const int8_t *first,
                   int8_t *output) {
  int32_t sums[CHANNELS];
  pl_sum_4_s8(window, stage->offset, first, sums);
  for (int32_t i = 0; i < CHANNELS; ++i) output[i] = pl_mean_of(stage, sums[i]);
}

void pl_mean_window_s8(const pl_pool_window *window, const pl_mean_stage *stage, int8_t *output) {
  const bool divides = pl_divides(stage);
  int32_t c = 0;
  for (; divides && c <= window->channels - CHANNELS; c += CHANNELS) {
    divided_mean_4(window, stage, window->first + c, output + c);
  }
  for (; c <= window->channels - CHANNELS; c += CHANNELS) {
    mean_4(window, stage, window->first + c, output + c);
  }
  for (; c < window->channels; ++c) output[c] = pl_mean_1_s8(window, stage, window->first + c);
}
