// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/average_mve.h"
#include "kernels/common/divide_mve.h"
#include "kernels/common/pool_walk_mve.h"

// Number of int8 values fitting a sum of 16 bits.
#define MAX_TAPS 255
#define LANES 8

// Converts a sum to its result.
PL_INLINE int16x8_t average(const void *op, int16x8_t n) {
  const pl_average_mve *const by = op;
  return pl_average(vreinterpretq_u16_s16(n), *by);
}

PL_INLINE void average_of(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
                          const int8_t *first, int32_t second, int8_t *output) {
  const pl_average_mve *const by = op;
  const int16x8_t start = vdupq_n_s16((int16_t)by->start);
  pl_pool_sums sums = {start, start, second};
  pl_walk_taps(of, rows, columns, first, pl_pool_add, &sums);
  vstrbq_s16(output, average(op, sums.low));
  vstrbq_s16(output + second, average(op, sums.high));
}

PL_INLINE void average_of_lanes(const void *op, const pl_pool_window *of, int32_t rows,
                                int32_t columns, const int8_t *first, int32_t channels,
                                int8_t *output) {
  const pl_average_mve *const by = op;
  pl_pool_sum sum = {vdupq_n_s16((int16_t)by->start), vctp16q((uint32_t)channels)};
  pl_walk_taps(of, rows, columns, first, pl_pool_add_lanes, &sum);
  vstrbq_p_s16(output, average(op, sum.sum), sum.lanes);
}

PL_INLINE void average_several(const void *op, const pl_pool_window *of, int32_t count,
                               int32_t step, int8_t *output) {
  const pl_average_mve by = *(const pl_average_mve *)op;
  pl_pool_several(of, count, step, vdupq_n_s16((int16_t)by.start), average, &by, output);
}

static __attribute__((noinline)) void walk(const pl_pool_window *window, int32_t count,
                                           int32_t step, const void *op, int8_t *output) {
  static const pl_pool_functions functions = {LANES + 1, average_of, average_of_lanes,
                                              average_several, 0};
  const pl_average_mve by = *(const pl_average_mve *)op;
  pl_walk_row(window, count, step, &functions, &by, output);
}

static void average_long(const pl_pool_window *window, const int8_t *first, int32_t offset,
                         pl_divisor_mve by, int8_t *output) {
  for (int32_t left = window->channels; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    int32x4_t sum = vdupq_n_s32(offset);
    const int8_t *row = first;
    for (int32_t rows = window->rows; rows > 0; --rows, row += window->row_step) {
      const int8_t *x = row;
      for (int32_t columns = window->columns; columns > 0; --columns, x += window->column_step) {
        sum = vaddq_s32(sum, vldrbq_z_s32(x, lanes));
      }
    }
    const int32x4_t y = pl_divide_rounding_mve(sum, by);
    const int32x4_t least = vmaxq_s32(y, vdupq_n_s32(INT8_MIN));
    vstrbq_p_s32(output, vminq_s32(least, vdupq_n_s32(INT8_MAX)), lanes);
    first += 4;
    output += 4;
  }
}

void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output) {
  const int32_t taps = window->rows * window->columns;
  if (divisor > 1 && divisor <= MAX_TAPS && taps <= divisor) {
    const pl_average_mve short_by = pl_average_of(divisor, offset);
    pl_walk_windows(window, count, step, walk, &short_by, output);
    return;
  }
  const pl_divisor_mve by = pl_divisor_of((uint32_t)divisor);
  const int8_t *first = window->first;
  for (; count > 0; --count, first += step, output += window->channels) {
    average_long(window, first, offset, by, output);
  }
}
