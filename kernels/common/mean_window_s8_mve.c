// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/mean_window_s8.h"
#include "kernels/common/places_mve.h"
#include "kernels/common/requantize_mve.h"

#define LANES 8
#define INLINE static inline __attribute__((always_inline))

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
// all there. `rows` and `columns` are constants where this is inlined, for windows of 2x2.
INLINE void short_means(const pl_pool_window *of, int32_t rows, int32_t columns,
                        const pl_mean_stage *stage, const int8_t *first, int8_t *output) {
  const int32_t row_step = of->row_step;
  const int32_t step = of->column_step;
  int16x8_t sum0 = vdupq_n_s16(0);
  int16x8_t sum1 = vdupq_n_s16(0);
#pragma GCC unroll 2
  for (int32_t i = 0; i < rows; ++i, first += row_step) {
    const int8_t *x = first;
#pragma GCC unroll 2
    for (int32_t j = 0; j < columns; ++j, x += step) {
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

// The same of up to eight channels.
INLINE void short_means_8(const pl_pool_window *of, const pl_mean_stage *stage, const int8_t *first,
                          mve_pred16_t lanes, int8_t *output) {
  int16x8_t sum = vdupq_n_s16(0);
  for (int32_t rows = of->rows; rows > 0; --rows, first += of->row_step) {
    const int8_t *x = first;
    for (int32_t taps = of->columns; taps > 0; --taps, x += of->column_step) {
      sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
    }
  }
  const int32_t offset = stage->offset * PL_MEAN_GUARD;
  const int32x4_t even = vaddq_n_s32(vshllbq_n_s16(sum, PL_MEAN_GUARD_BITS), offset);
  const int32x4_t odd = vaddq_n_s32(vshlltq_n_s16(sum, PL_MEAN_GUARD_BITS), offset);
  vstrbq_p_s16(output, narrowed(stage, divide(stage, even), divide(stage, odd)), lanes);
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

// Short windows with few channels: as many as a vector has lanes for.
static void means_of_several(const pl_pool_window *window, int32_t count, int32_t step,
                             const pl_mean_stage *stage, int8_t *output) {
  const pl_pool_window of = *window;
  const int32_t together = LANES / of.channels;
  const uint16x8_t at = pl_places_of_8(of.channels, step);
  const int32_t offset = stage->offset * PL_MEAN_GUARD;
  const int8_t *first = of.first;
  for (; count > 0; count -= together) {
    const mve_pred16_t lanes =
        vctp16q((uint32_t)((count < together ? count : together) * of.channels));
    int16x8_t sum = vdupq_n_s16(0);
    const int8_t *row = first;
    for (int32_t rows = of.rows; rows > 0; --rows, row += of.row_step) {
      const int8_t *x = row;
      for (int32_t taps = of.columns; taps > 0; --taps, x += of.column_step) {
        sum = vaddq_s16(sum, vldrbq_gather_offset_z_s16(x, at, lanes));
      }
    }
    const int32x4_t even = vaddq_n_s32(vshllbq_n_s16(sum, PL_MEAN_GUARD_BITS), offset);
    const int32x4_t odd = vaddq_n_s32(vshlltq_n_s16(sum, PL_MEAN_GUARD_BITS), offset);
    vstrbq_p_s16(output, narrowed(stage, divide(stage, even), divide(stage, odd)), lanes);
    first += together * step;
    output += together * of.channels;
  }
}

INLINE void means_of_each(pl_pool_window of, int32_t rows, int32_t columns, bool is_short,
                          int32_t count, int32_t step, const pl_mean_stage *stage, int8_t *output) {
  const int8_t *from = of.first;
  for (; count > 0; --count, from += step) {
    const int8_t *first = from;
    int32_t channels = of.channels;
    for (; is_short && channels >= 2 * LANES; channels -= 2 * LANES) {
      short_means(&of, rows, columns, stage, first, output);
      first += 2 * LANES;
      output += 2 * LANES;
    }
    if (is_short) {
      for (; channels > 0; channels -= LANES, first += LANES) {
        short_means_8(&of, stage, first, vctp16q((uint32_t)channels), output);
        output += channels < LANES ? channels : LANES;
      }
    } else {
      long_means(&of, stage, first, channels, output);
      output += channels;
    }
  }
}

void pl_mean_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                        const pl_mean_stage *stage, int8_t *output) {
  const bool is_short = window->rows * window->columns <= PL_MAX_SHORT_TAPS && stage->shift < 0;
  const pl_mean_stage of = *stage;
  if (is_short && pl_few_channels(window->channels, step, count)) {
    means_of_several(window, count, step, &of, output);
  } else if (is_short && window->rows == 2 && window->columns == 2) {
    means_of_each(*window, 2, 2, true, count, step, &of, output);
  } else {
    means_of_each(*window, window->rows, window->columns, is_short, count, step, &of, output);
  }
}
