// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/mean_window_s8.h"
#include "kernels/common/pool_walk_mve.h"
#include "kernels/common/requantize_mve.h"

#define LANES 8

// Sums of 8 channels: of the even and the odd ones.
typedef struct {
  int32x4_t even;
  int32x4_t odd;
} wide_sums;

static inline void widen(wide_sums *sums, int16x8_t sum) {
  sums->even = vaddq_s32(sums->even, vmovlbq_s16(sum));
  sums->odd = vaddq_s32(sums->odd, vmovltq_s16(sum));
}

// For factors that divide, as those of means do but of a few values.
static inline int32x4_t divide(const pl_mean_stage *stage, int32x4_t x) {
  return pl_requantize_down_mve(x, stage->multiplier, stage->shift);
}

// Narrowed in place: of the even and the odd channels the low halves stay. From intrinsics GCC
// copies.
static inline int16x8_t narrowed(const pl_mean_stage *stage, int32x4_t even, int32x4_t odd) {
  __asm__(
      "vqmovnb.s32 %q0, %q0\n\tvqmovnt.s32 %q0, %q1\n\tvqadd.s16 %q0, %q0, %2\n\t"
      "vqmovnb.s16 %q0, %q0"
      : "+&w"(even)
      : "w"(odd), "r"(stage->output_zero_point));
  return vreinterpretq_s16_s32(even);
}

static inline void narrow(const pl_mean_stage *stage, wide_sums sums, mve_pred16_t lanes,
                          int8_t *output) {
  if (stage->shift < 0) {
    vstrbq_p_s16(output, narrowed(stage, divide(stage, sums.even), divide(stage, sums.odd)), lanes);
  } else {
    const pl_factors_mve factors = pl_same_factors_mve(stage->multiplier, stage->shift);
    const int32x4_t even = pl_requantize_mve(sums.even, factors);
    vstrbq_p_s16(output, narrowed(stage, even, pl_requantize_mve(sums.odd, factors)), lanes);
  }
}

// Windows of at most PL_MAX_SHORT_TAPS and a factor that divides.
PL_POOL_INLINE int16x8_t short_mean(const pl_mean_stage *stage, int16x8_t sum) {
  const int32_t offset = stage->offset * PL_MEAN_GUARD;
  const int32x4_t even = vaddq_n_s32(vshllbq_n_s16(sum, PL_MEAN_GUARD_BITS), offset);
  const int32x4_t odd = vaddq_n_s32(vshlltq_n_s16(sum, PL_MEAN_GUARD_BITS), offset);
  return narrowed(stage, divide(stage, even), divide(stage, odd));
}

PL_POOL_INLINE void short_means(const void *op, const pl_pool_window *of, int32_t rows,
                                int32_t columns, const int8_t *first, int32_t second,
                                int8_t *output) {
  pl_pool_sums sums = {vdupq_n_s16(0), vdupq_n_s16(0), second};
  pl_walk_taps(of, rows, columns, first, pl_pool_add, &sums);
  vstrbq_s16(output, short_mean(op, sums.low));
  vstrbq_s16(output + second, short_mean(op, sums.high));
}

PL_POOL_INLINE void short_means_of_lanes(const void *op, const pl_pool_window *of, int32_t rows,
                                         int32_t columns, const int8_t *first, int32_t channels,
                                         int8_t *output) {
  pl_pool_sum sum = {vdupq_n_s16(0), vctp16q((uint32_t)channels)};
  pl_walk_taps(of, rows, columns, first, pl_pool_add_lanes, &sum);
  vstrbq_p_s16(output, short_mean(op, sum.sum), sum.lanes);
}

PL_POOL_INLINE void short_means_of_several(const void *op, const pl_pool_window *window,
                                           int32_t count, int32_t step, int8_t *output) {
  const pl_mean_stage stage = *(const pl_mean_stage *)op;
  const pl_pool_window of = *window;
  const int32_t together = LANES / of.channels;
  const uint16x8_t at = pl_places_of_8(of.channels, step);
  const int8_t *first = of.first;
  for (; count > 0; count -= together) {
    const mve_pred16_t lanes =
        vctp16q((uint32_t)((count < together ? count : together) * of.channels));
    const int16x8_t sum = pl_pool_sum_of_several(&of, first, at, lanes, vdupq_n_s16(0));
    vstrbq_p_s16(output, short_mean(&stage, sum), lanes);
    first += together * step;
    output += together * of.channels;
  }
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
    wide_sums sums = {vdupq_n_s32(stage->offset), vdupq_n_s32(stage->offset)};
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
          widen(&sums, sum);
          sum = vdupq_n_s16(0);
          room = PL_MAX_SHORT_TAPS;
        }
      }
    }
    widen(&sums, sum);
    sums.even = vshlq_n_s32(sums.even, PL_MEAN_GUARD_BITS);
    sums.odd = vshlq_n_s32(sums.odd, PL_MEAN_GUARD_BITS);
    narrow(stage, sums, lanes, output);
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
