// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/optimized.h"

#include "kernels/common/mean_window_s8.h"
#include "kernels/common/narrow_mve.h"
#include "kernels/common/pool_walk_mve.h"

#define LANES 8

static inline pl_scale_mve scale_of(const pl_mean_stage *stage) {
  return (pl_scale_mve){stage->multiplier, stage->shift, stage->output_zero_point};
}

// Windows of at most PL_MAX_SHORT_TAPS and a factor that divides.
PL_INLINE int16x8_t short_mean(const void *op, int16x8_t sum) {
  const pl_mean_stage *const stage = op;
  const int32_t offset = stage->offset * PL_MEAN_GUARD;
  const pl_sums_mve sums = {vaddq_n_s32(vshllbq_n_s16(sum, PL_MEAN_GUARD_BITS), offset),
                            vaddq_n_s32(vshlltq_n_s16(sum, PL_MEAN_GUARD_BITS), offset)};
  return pl_scale_down_mve(sums, scale_of(stage));
}

PL_INLINE void short_means(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
                           const int8_t *first, int32_t second, int8_t *output) {
  pl_pool_sums sums = {vdupq_n_s16(0), vdupq_n_s16(0), second};
  pl_walk_taps(of, rows, columns, first, pl_pool_add, &sums);
  vstrbq_s16(output, short_mean(op, sums.low));
  vstrbq_s16(output + second, short_mean(op, sums.high));
}

PL_INLINE void short_means_of_lanes(const void *op, const pl_pool_window *of, int32_t rows,
                                    int32_t columns, const int8_t *first, int32_t channels,
                                    int8_t *output) {
  pl_pool_sum sum = {vdupq_n_s16(0), vctp16q((uint32_t)channels)};
  pl_walk_taps(of, rows, columns, first, pl_pool_add_lanes, &sum);
  vstrbq_p_s16(output, short_mean(op, sum.sum), sum.lanes);
}

PL_INLINE void short_means_of_several(const void *op, const pl_pool_window *of, int32_t count,
                                      int32_t step, int8_t *output) {
  const pl_mean_stage stage = *(const pl_mean_stage *)op;
  pl_pool_several(of, count, step, vdupq_n_s16(0), short_mean, &stage, output);
}

static __attribute__((noinline)) void walk(const pl_pool_window *window, int32_t count,
                                           int32_t step, const void *op, int8_t *output) {
  static const pl_pool_functions functions = {LANES + 1, short_means, short_means_of_lanes,
                                              short_means_of_several, 0};
  const pl_mean_stage of = *(const pl_mean_stage *)op;
  pl_walk_row(window, count, step, &functions, &of, output);
}

// Any windows and factors, 8 channels at a time.
static __attribute__((noinline)) void long_means(const pl_pool_window *of,
                                                 const pl_mean_stage *stage, const int8_t *first,
                                                 int32_t channels, int8_t *output) {
  for (; channels > 0; channels -= LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)channels);
    pl_sums_mve sums = {vdupq_n_s32(stage->offset), vdupq_n_s32(stage->offset)};
    int16x8_t sum = vdupq_n_s16(0);
    int32_t room = PL_MAX_SHORT_TAPS;
    const int8_t *row = first;
    for (int32_t rows = of->rows; rows > 0; --rows, row += of->row_step) {
      const int8_t *x = row;
      for (int32_t left = of->columns; left > 0;) {
        int32_t taps = left < room ? left : room;
        left -= taps;
        room -= taps;
        for (; taps > 0; --taps, x += of->column_step) {
          sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
        }
        if (room == 0) {
          sums = pl_widen_mve(sums, sum);
          sum = vdupq_n_s16(0);
          room = PL_MAX_SHORT_TAPS;
        }
      }
    }
    sums = pl_widen_mve(sums, sum);
    sums.even = vshlq_n_s32(sums.even, PL_MEAN_GUARD_BITS);
    sums.odd = vshlq_n_s32(sums.odd, PL_MEAN_GUARD_BITS);
    vstrbq_p_s16(output, pl_scale_sums_mve(sums, scale_of(stage)), lanes);
    first += LANES;
    output += channels < LANES ? channels : LANES;
  }
}

void pl_mean_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                        const pl_mean_stage *stage, int8_t *output) {
  if (window->rows * window->columns <= PL_MAX_SHORT_TAPS && stage->shift < 0) {
    pl_walk_windows(window, count, step, walk, stage, output);
    return;
  }
  const int8_t *first = window->first;
  for (; count > 0; --count, first += step, output += window->channels) {
    long_means(window, stage, first, window->channels, output);
  }
}
