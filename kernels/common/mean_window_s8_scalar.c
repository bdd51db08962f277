// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/mean_window_s8.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

// Windows of which a sum with its offset times 2^16 - 1 is an int32, with room to round.
#define MAX_TAPS 127

// pl_mean_of for such windows and factors that divide. With multiplier = high * 2^16 + low,
// products of 32 bits do: sum * PL_MEAN_GUARD * multiplier / 2^31, rounded, is
//   floor((sum * high + floor((sum * low + 2^24) / 2^16)) / 2^9)
typedef struct {
  int32_t offset;
  int32_t low;
  int32_t high;
  int32_t start;  // the output's zero point and the half that rounds, as of pl_requantize_down
  int32_t right;
} short_stage;

static inline short_stage short_stage_of(const pl_mean_stage *stage) {
  const int32_t right = -stage->shift;
  const int32_t twice_zero_point = 2 * (stage->output_zero_point - INT8_MIN);
  return (short_stage){stage->offset, stage->multiplier & UINT16_MAX, stage->multiplier >> 16,
                       (twice_zero_point + 1) * (1 << (right - 1)), right};
}

static inline int8_t short_mean(const short_stage *stage, int32_t sum) {
  const int32_t low = (sum * stage->low + (1 << 24)) >> 16;
  const int32_t high = (sum * stage->high + low) >> 9;
  const int32_t y = (high + stage->start + (sum >> 31)) >> stage->right;
  return (int8_t)(pl_clamp(y, 0, UINT8_MAX) + INT8_MIN);
}

static void short_mean_4(const pl_pool_window *window, const short_stage *stage,
                         const int8_t *first, int8_t *output) {
  int32_t sums[CHANNELS];
  pl_sum_4_s8(window, stage->offset, first, sums);
  output[0] = short_mean(stage, sums[0]);
  output[1] = short_mean(stage, sums[1]);
  output[2] = short_mean(stage, sums[2]);
  output[3] = short_mean(stage, sums[3]);
}

static void mean_4(const pl_pool_window *window, const pl_mean_stage *stage, const int8_t *first,
                   int8_t *output) {
  int32_t sums[CHANNELS];
  pl_sum_4_s8(window, stage->offset, first, sums);
  for (int32_t i = 0; i < CHANNELS; ++i) output[i] = pl_mean_of(stage, sums[i]);
}

void pl_mean_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                        const pl_mean_stage *stage, int8_t *output) {
  const bool is_short = window->rows * window->columns <= MAX_TAPS && pl_divides(stage);
  const short_stage factors = is_short ? short_stage_of(stage) : (short_stage){0};
  pl_pool_window at = *window;
  for (; count > 0; --count, at.first += step, output += at.channels) {
    int32_t c = 0;
    for (; is_short && c <= at.channels - CHANNELS; c += CHANNELS) {
      short_mean_4(&at, &factors, at.first + c, output + c);
    }
    for (; c <= at.channels - CHANNELS; c += CHANNELS) {
      mean_4(&at, stage, at.first + c, output + c);
    }
    for (; c < at.channels; ++c) output[c] = pl_mean_1_s8(&at, stage, at.first + c);
  }
}
