// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/common/mean_window_s8.h"
#include "kernels/common/pool_by_4_s8.h"
#include "kernels/common/pool_sums_dsp.h"

// pl_mean_of for factors that divide, as required by pl_narrow_dsp.
static inline int8_t narrow(const void *stage, int32_t sum) {
  const pl_mean_stage *of = (const pl_mean_stage *)stage;
  return pl_narrow_dsp(2 * PL_MEAN_GUARD * sum, of->multiplier, -of->shift - 1,
                       2 * of->output_zero_point + 1);
}

void pl_mean_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                        const pl_mean_stage *stage, int8_t *output) {
  const pl_windows of = {count, step, stage->offset, output};
  const pl_mean_stage own = *stage;  // in registers, because GCC assumes that results may alias it
  const bool divides = pl_divides(stage);
  if (window->channels < PL_CHANNELS) {
    if (divides) {
      pl_pool_few(*window, of, &own, narrow);
    } else {
      pl_pool_few(*window, of, stage, pl_mean_of);
    }
  } else if (divides && pl_is_short(window)) {
    pl_pool_fours(*window, of, pl_short_sum_4_s8, &own, narrow);
  } else {
    pl_pool_fours(*window, of, pl_sum_4_s8, stage, pl_mean_of);
  }
}
