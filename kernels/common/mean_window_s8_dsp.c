// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/common/mean_window_s8.h"

// Channels that share the loops over the taps.
#define CHANNELS 4

// Windows of at most PL_MAX_SHORT_TAPS: the sums are halves of two words.
static inline void short_mean_4(const pl_pool_window *window, const pl_mean_stage *stage,
                                const int8_t *first, int8_t *output) {
  const int32_t step = window->column_step;
  int16x2_t even = 0;
  int16x2_t odd = 0;
  for (int32_t row = window->rows; row > 0; --row, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t taps = window->columns; taps > 0; --taps, x += step) {
      const int8x4_t four = pl_load_4(x);
      even = pl_add_even_s16(even, four);
      odd = pl_add_odd_s16(odd, four);
    }
  }
  const int32_t twice = 2 * PL_MEAN_GUARD;
  const int32_t offset = stage->offset;
  const int32_t multiplier = stage->multiplier;
  const int32_t right = -stage->shift - 1;
  const int32_t rounding = 2 * stage->output_zero_point + 1;
  output[0] = pl_narrow_dsp(twice * (offset + (int16_t)even), multiplier, right, rounding);
  output[1] = pl_narrow_dsp(twice * (offset + (int16_t)odd), multiplier, right, rounding);
  output[2] = pl_narrow_dsp(twice * (offset + (even >> 16)), multiplier, right, rounding);
  output[3] = pl_narrow_dsp(twice * (offset + (odd >> 16)), multiplier, right, rounding);
}

static void mean_4(const pl_pool_window *window, const pl_mean_stage *stage, const int8_t *first,
                   int8_t *output) {
  int32_t sums[CHANNELS];
  pl_sum_4_s8(window, stage->offset, first, sums);
  for (int32_t i = 0; i < CHANNELS; ++i) output[i] = pl_mean_of(stage, sums[i]);
}

void pl_mean_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                        const pl_mean_stage *stage, int8_t *output) {
  const bool is_short = window->rows * window->columns <= PL_MAX_SHORT_TAPS && pl_divides(stage);
  pl_pool_window at = *window;
  for (; count > 0; --count, at.first += step, output += at.channels) {
    int32_t c = 0;
    for (; is_short && c <= at.channels - CHANNELS; c += CHANNELS) {
      short_mean_4(&at, stage, at.first + c, output + c);
    }
    for (; c <= at.channels - CHANNELS; c += CHANNELS) {
      mean_4(&at, stage, at.first + c, output + c);
    }
    for (; c < at.channels; ++c) output[c] = pl_mean_1_s8(&at, stage, at.first + c);
  }
}
