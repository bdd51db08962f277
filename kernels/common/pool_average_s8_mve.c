// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/divide_mve.h"
#include "kernels/common/pool_walk_mve.h"

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

// Division by a number of 16 bits.
typedef struct {
  int32_t left;  // minus the bits of a power of two, else 0
  int16_t half;
  uint16_t reciprocal;
  uint16_t minus;  // 2^16 - divisor
  uint16_t most;   // the largest rest
} short_divisor;

static inline short_divisor short_divisor_of(int32_t divisor) {
  const int is_power = divisor > 1 && (divisor & (divisor - 1)) == 0;
  return (short_divisor){
      .left = is_power ? __builtin_clz((uint32_t)divisor) - 31 : 0,
      .half = (int16_t)(divisor / 2),
      .reciprocal = (uint16_t)(UINT16_MAX / divisor),
      .minus = (uint16_t)-divisor,
      .most = (uint16_t)(divisor - 1),
  };
}

// divide_mve.h in 16 bits: x / divisor, ties away from zero; |x| + divisor / 2 is an int16.
static inline int16x8_t divide_8(int16x8_t x, short_divisor by) {
  const int16x8_t sign = vshrq_n_s16(x, 15);
  if (by.left < 0) return vrshlq_n_s16(vaddq_s16(x, sign), by.left);
  const uint16x8_t n = vreinterpretq_u16_s16(vaddq_n_s16(vabsq_s16(x), by.half));
  const uint16x8_t quotient = vmulhq_u16(n, vdupq_n_u16(by.reciprocal));
  const uint16x8_t rest = vmlaq_n_u16(n, quotient, by.minus);
  const uint16x8_t beyond = vqsubq_n_u16(rest, by.most);
  const uint16x8_t nearest = vaddq_u16(quotient, vminq_u16(beyond, vdupq_n_u16(1)));
  return vsubq_s16(veorq_s16(vreinterpretq_s16_u16(nearest), sign), sign);
}

static inline void store(int16x8_t y, mve_pred16_t lanes, int8_t *output) {
  const int8x16_t bytes = vqmovnbq_s16(vreinterpretq_s8_s16(y), y);
  vstrbq_p_s16(output, vreinterpretq_s16_s8(bytes), lanes);
}

// What becomes of sums of 16 bits.
typedef struct {
  int16x8_t start;
  short_divisor by;
} short_average;

PL_POOL_INLINE void average_of(const void *op, const pl_pool_window *of, int32_t rows,
                               int32_t columns, const int8_t *first, int8_t *output) {
  const short_average *const average = op;
  pl_pool_sums sums = {average->start, average->start};
  pl_walk_taps(of, rows, columns, first, pl_pool_add, &sums);
  const int16x8_t low = divide_8(sums.low, average->by);
  const int16x8_t high = divide_8(sums.high, average->by);
  vstrbq_s16(output, vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(low), low)));
  vstrbq_s16(output + 8, vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(high), high)));
}

PL_POOL_INLINE void average_of_lanes(const void *op, const pl_pool_window *of, int32_t rows,
                                     int32_t columns, const int8_t *first, int32_t channels,
                                     int8_t *output) {
  (void)rows;
  (void)columns;
  const short_average *const average = op;
  for (; channels > 0; channels -= 8) {
    pl_pool_sum sum = {average->start, vctp16q((uint32_t)channels)};
    pl_walk_taps(of, of->rows, of->columns, first, pl_pool_add_lanes, &sum);
    store(divide_8(sum.sum, average->by), sum.lanes, output);
    first += 8;
    output += 8;
  }
}

PL_POOL_INLINE void average_several(const void *op, const pl_pool_window *window, int32_t count,
                                    int32_t step, int8_t *output) {
  const short_average average = *(const short_average *)op;
  const pl_pool_window of = *window;
  const int32_t together = 8 / of.channels;
  const uint16x8_t at = pl_places_of_8(of.channels, step);
  const int8_t *first = of.first;
  for (; count > 0; count -= together) {
    const mve_pred16_t lanes =
        vctp16q((uint32_t)((count < together ? count : together) * of.channels));
    const int16x8_t sum = pl_pool_sum_of_several(&of, first, at, lanes, average.start);
    store(divide_8(sum, average.by), lanes, output);
    first += together * step;
    output += together * of.channels;
  }
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
  if (taps <= MAX_TAPS &&
      taps * -INT8_MIN + (offset < 0 ? -offset : offset) + divisor / 2 <= INT16_MAX) {
    static const pl_pool_functions functions = {average_of, average_of_lanes, average_several, 0};
    const short_average average = {vdupq_n_s16((int16_t)offset), short_divisor_of(divisor)};
    pl_walk_windows(window, count, step, &functions, &average, output);
    return;
  }
  const pl_divisor_mve by = pl_divisor_of((uint32_t)divisor);
  const int8_t *first = window->first;
  for (; count > 0; --count, first += step, output += window->channels) {
    average_long(window, first, offset, by, output);
  }
}
