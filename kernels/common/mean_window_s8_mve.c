// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/mean_window_s8.h"
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

// requantize.h for factors that divide, as those of means do but of a few values.
static inline int32x4_t divide(const pl_mean_stage *stage, int32x4_t x) {
  const int32x4_t high = vqrdmulhq_n_s32(x, stage->multiplier);
  return vrshlq_n_s32(vaddq_s32(high, vshrq_n_s32(high, 31)), stage->shift);
}

// Narrowed in place: of the even and the odd channels the low halves stay. From intrinsics GCC
// copies.
static inline int16x8_t narrowed(const pl_mean_stage *stage, int32x4_t even, int32x4_t odd) {
  __asm__(
      "vqmovnb.s32 %q0, %q0\n\tvqmovnt.s32 %q0, %q1\n\tvqadd.s16 %q0, %q0, %2\n\t"
      "vqmovnb.s16 %q0, %q0"
      : "+w"(even)
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

// Windows of at most PL_MAX_SHORT_TAPS and a factor that divides: 16 channels at a time, which are
// all there.
static inline void short_means(const pl_pool_window *window, const pl_mean_stage *stage,
                               const int8_t *first, int8_t *output) {
  const int32_t step = window->column_step;
  int16x8_t sum0 = vdupq_n_s16(0);
  int16x8_t sum1 = vdupq_n_s16(0);
  for (int32_t rows = window->rows; rows > 0; --rows, first += window->row_step) {
    const int8_t *x = first;
    for (int32_t taps = window->columns; taps > 0; --taps, x += step) {
      sum0 = vaddq_s16(sum0, vldrbq_s16(x));
      sum1 = vaddq_s16(sum1, vldrbq_s16(x + LANES));
    }
  }
  const int32_t offset = stage->offset * PL_MEAN_GUARD;
  const int32x4_t even0 =
      divide(stage, vaddq_n_s32(vshllbq_n_s16(sum0, PL_MEAN_GUARD_BITS), offset));
  const int32x4_t odd0 =
      divide(stage, vaddq_n_s32(vshlltq_n_s16(sum0, PL_MEAN_GUARD_BITS), offset));
  const int32x4_t even1 =
      divide(stage, vaddq_n_s32(vshllbq_n_s16(sum1, PL_MEAN_GUARD_BITS), offset));
  const int32x4_t odd1 =
      divide(stage, vaddq_n_s32(vshlltq_n_s16(sum1, PL_MEAN_GUARD_BITS), offset));
  vstrbq_s16(output, narrowed(stage, even0, odd0));
  vstrbq_s16(output + LANES, narrowed(stage, even1, odd1));
}

void pl_mean_window_s8(const pl_pool_window *window, const pl_mean_stage *stage, int8_t *output) {
  const bool is_short = window->rows * window->columns <= PL_MAX_SHORT_TAPS && stage->shift < 0;
  const int8_t *first = window->first;
  int32_t channels = window->channels;
  for (; is_short && channels >= 2 * LANES; channels -= 2 * LANES) {
    short_means(window, stage, first, output);
    first += 2 * LANES;
    output += 2 * LANES;
  }
  for (; channels > 0; channels -= LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)channels);
    wide_sums sums = {vdupq_n_s32(stage->offset), vdupq_n_s32(stage->offset)};
    int16x8_t sum = vdupq_n_s16(0);
    int32_t room = PL_MAX_SHORT_TAPS;
    const int8_t *row = first;
    for (int32_t rows = window->rows; rows > 0; --rows, row += window->row_step) {
      const int8_t *x = row;
      for (int32_t left = window->columns; left > 0;) {
        int32_t taps = left < room ? left : room;
        left -= taps;
        room -= taps;
        for (; taps > 0; --taps, x += window->column_step) {
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
    output += LANES;
  }
}
