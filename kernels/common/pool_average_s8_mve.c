// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/divide_mve.h"
#include "kernels/common/places_mve.h"
#include "kernels/common/pool_s8.h"

#define LANES 8
#define INLINE static inline __attribute__((always_inline))

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

// Division by a number of 16 bits.
typedef struct {
  uint16_t divisor;
  uint16_t reciprocal;
  int32_t left;  // minus the bits of a power of two, else 0
} short_divisor;

static inline short_divisor short_divisor_of(int32_t divisor) {
  const int is_power = divisor > 1 && (divisor & (divisor - 1)) == 0;
  return (short_divisor){(uint16_t)divisor, (uint16_t)(UINT16_MAX / divisor),
                         is_power ? __builtin_clz((uint32_t)divisor) - 31 : 0};
}

// divide_mve.h in 16 bits: x / divisor, ties away from zero; |x| + divisor / 2 is an int16.
static inline int16x8_t divide_8(int16x8_t x, short_divisor by) {
  const int16x8_t sign = vshrq_n_s16(x, 15);
  if (by.left < 0) return vrshlq_n_s16(vaddq_s16(x, sign), by.left);
  const uint16x8_t n = vreinterpretq_u16_s16(vaddq_n_s16(vabsq_s16(x), (int16_t)(by.divisor / 2)));
  const uint16x8_t quotient = vmulhq_u16(n, vdupq_n_u16(by.reciprocal));
  const uint16x8_t rest = vmlaq_n_u16(n, quotient, (uint16_t)(0U - by.divisor));
  const uint16x8_t beyond = vqsubq_n_u16(rest, (uint16_t)(by.divisor - 1));
  const uint16x8_t nearest = vaddq_u16(quotient, vminq_u16(beyond, vdupq_n_u16(1)));
  return vsubq_s16(veorq_s16(vreinterpretq_s16_u16(nearest), sign), sign);
}

static inline void store(int16x8_t y, mve_pred16_t lanes, int8_t *output) {
  const int8x16_t bytes = vqmovnbq_s16(vreinterpretq_s8_s16(y), y);
  vstrbq_p_s16(output, vreinterpretq_s16_s8(bytes), lanes);
}

// Windows whose sums are 16 bits: sixteen channels, and what is left over by eight. `rows` and
// `columns` are constants where this is inlined, for windows of 2x2.
INLINE void average_short(pl_pool_window of, int32_t rows, int32_t columns, int32_t count,
                          int32_t step, int32_t offset, short_divisor by, int8_t *output) {
  const int16x8_t start = vdupq_n_s16((int16_t)offset);
  const int8_t *from = of.first;
  for (; count > 0; --count, from += step) {
    const int8_t *first = from;
    int32_t left = of.channels;
    for (; left >= 2 * LANES; left -= 2 * LANES) {
      int16x8_t sum0 = start;
      int16x8_t sum1 = start;
      const int8_t *row = first;
#pragma GCC unroll 2
      for (int32_t i = 0; i < rows; ++i, row += of.row_step) {
        const int8_t *x = row;
#pragma GCC unroll 2
        for (int32_t j = 0; j < columns; ++j, x += of.column_step) {
          sum0 = vaddq_s16(sum0, vldrbq_s16(x));
          sum1 = vaddq_s16(sum1, vldrbq_s16(x + LANES));
        }
      }
      const int16x8_t low = divide_8(sum0, by);
      const int16x8_t high = divide_8(sum1, by);
      vstrbq_s16(output, vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(low), low)));
      vstrbq_s16(output + LANES,
                 vreinterpretq_s16_s8(vqmovnbq_s16(vreinterpretq_s8_s16(high), high)));
      first += 2 * LANES;
      output += 2 * LANES;
    }
    for (; left > 0; left -= LANES) {
      const mve_pred16_t lanes = vctp16q((uint32_t)left);
      int16x8_t sum = start;
      const int8_t *row = first;
      for (int32_t i = rows; i > 0; --i, row += of.row_step) {
        const int8_t *x = row;
        for (int32_t j = columns; j > 0; --j, x += of.column_step) {
          sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
        }
      }
      store(divide_8(sum, by), lanes, output);
      first += LANES;
      output += left < LANES ? left : LANES;
    }
  }
}

// The same with few channels: as many windows as a vector has lanes for.
static __attribute__((noinline)) void average_several(const pl_pool_window *window, int32_t count,
                                                      int32_t step, int32_t offset,
                                                      short_divisor by, int8_t *output) {
  const pl_pool_window of = *window;
  const int32_t together = LANES / of.channels;
  const uint16x8_t at = pl_places_of_8(of.channels, step);
  const int8_t *first = of.first;
  for (; count > 0; count -= together) {
    const mve_pred16_t lanes =
        vctp16q((uint32_t)((count < together ? count : together) * of.channels));
    int16x8_t sum = vdupq_n_s16((int16_t)offset);
    const int8_t *row = first;
    for (int32_t rows = of.rows; rows > 0; --rows, row += of.row_step) {
      const int8_t *x = row;
      for (int32_t taps = of.columns; taps > 0; --taps, x += of.column_step) {
        sum = vaddq_s16(sum, vldrbq_gather_offset_z_s16(x, at, lanes));
      }
    }
    store(divide_8(sum, by), lanes, output);
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
    const short_divisor by = short_divisor_of(divisor);
    if (pl_few_channels(window->channels, step, count)) {
      average_several(window, count, step, offset, by, output);
    } else if (window->rows == 2 && window->columns == 2) {
      average_short(*window, 2, 2, count, step, offset, by, output);
    } else {
      average_short(*window, window->rows, window->columns, count, step, offset, by, output);
    }
    return;
  }
  const pl_divisor_mve by = pl_divisor_of((uint32_t)divisor);
  const int8_t *first = window->first;
  for (; count > 0; --count, first += step, output += window->channels) {
    average_long(window, first, offset, by, output);
  }
}
