// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/mean_window_s8.h"
#include "kernels/common/pool_by_4_s8.h"

// Limit for windows whose sum with its offset, times 2^16 - 1, fits int32, with room to round.
#define MAX_TAPS 127

// pl_mean_of for such windows and factors that divide. With multiplier = high * 2^16 + low,
// products of 32 bits are enough: sum * PL_MEAN_GUARD * multiplier / 2^31, rounded, is
//   floor((sum * high + floor((sum * low + 2^24) / 2^16)) / 2^9)
typedef struct {
  int32_t low;
  int32_t high;
  int32_t start;  // the output's zero point and the rounding half, as in pl_requantize_down
  int32_t right;
} short_stage;

static inline short_stage short_stage_of(const pl_mean_stage *stage) {
  const int32_t right = -stage->shift;
  const int32_t twice_zero_point = 2 * (stage->output_zero_point - INT8_MIN);
  return (short_stage){stage->multiplier & UINT16_MAX, stage->multiplier >> 16,
                       (twice_zero_point + 1) * (1 << (right - 1)), right};
}

static inline int8_t short_mean(const void *stage, int32_t sum) {
  const short_stage *of = (const short_stage *)stage;
  const int32_t low = (sum * of->low + (1 << 24)) >> 16;
  const int32_t high = (sum * of->high + low) >> 9;
  const int32_t y = (high + of->start + (sum >> 31)) >> of->right;
  return (int8_t)(pl_clamp(y, 0, UINT8_MAX) + INT8_MIN);
}

static void mean_windows(const pl_pool_window *window, pl_windows of, const pl_mean_stage *stage) {
  if (window->channels < PL_CHANNELS) {
    pl_pool_few(*window, of, stage, pl_mean_of);
  } else {
    pl_pool_fours(*window, of, pl_sum_4_s8, stage, pl_mean_of);
  }
}

void pl_mean_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                        const pl_mean_stage *stage, int8_t *output) {
  const pl_windows of = {count, step, stage->offset, output};
  if (window->rows * window->columns > MAX_TAPS || !pl_divides(stage)) {
    mean_windows(window, of, stage);
    return;
  }
  const short_stage factors = short_stage_of(stage);
  if (window->channels < PL_CHANNELS) {
    pl_pool_few(*window, of, &factors, short_mean);
  } else {
    pl_pool_fours(*window, of, pl_sum_4_s8, &factors, short_mean);
  }
}
