// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/divide_mve.h"
#include "kernels/common/pool_s8.h"

#define LANES 8

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

// divide_mve.h in 16 bits: x / divisor, ties away from zero; |x| + divisor / 2 is an int16.
static inline int16x8_t divide_8(int16x8_t x, uint16_t divisor, uint16_t reciprocal) {
  const int16x8_t sign = vshrq_n_s16(x, 15);
  const uint16x8_t n = vreinterpretq_u16_s16(vaddq_n_s16(vabsq_s16(x), (int16_t)(divisor / 2)));
  const uint16x8_t quotient = vmulhq_u16(n, vdupq_n_u16(reciprocal));
  const uint16x8_t rest = vmlaq_n_u16(n, quotient, (uint16_t)(0U - divisor));
  const uint16x8_t beyond = vqsubq_n_u16(rest, (uint16_t)(divisor - 1));
  const uint16x8_t nearest = vaddq_u16(quotient, vminq_u16(beyond, vdupq_n_u16(1)));
  return vsubq_s16(veorq_s16(vreinterpretq_s16_u16(nearest), sign), sign);
}

static inline void store(int16x8_t y, mve_pred16_t lanes, int8_t *output) {
  const int8x16_t bytes = vqmovnbq_s16(vreinterpretq_s8_s16(y), y);
  vstrbq_p_s16(output, vreinterpretq_s16_s8(bytes), lanes);
}

// Windows whose sums are 16 bits: sixteen channels, and what is left over by eight.
static void average_short(const pl_pool_window *window, int32_t offset, uint16_t divisor,
                          int8_t *output) {
  const uint16_t reciprocal = (uint16_t)(UINT16_MAX / divisor);
  const int16x8_t start = vdupq_n_s16((int16_t)offset);
  const int8_t *first = window->first;
  int32_t left = window->channels;
  for (; left >= 2 * LANES; left -= 2 * LANES) {
    int16x8_t sum0 = start;
    int16x8_t sum1 = start;
    const int8_t *row = first;
    for (int32_t rows = window->rows; rows > 0; --rows, row += window->row_step) {
      const int8_t *x = row;
      for (int32_t taps = window->columns; taps > 0; --taps, x += window->column_step) {
        sum0 = vaddq_s16(sum0, vldrbq_s16(x));
        sum1 = vaddq_s16(sum1, vldrbq_s16(x + LANES));
      }
    }
    store(divide_8(sum0, divisor, reciprocal), vctp16q(LANES), output);
    store(divide_8(sum1, divisor, reciprocal), vctp16q(LANES), output + LANES);
    first += 2 * LANES;
    output += 2 * LANES;
  }
  for (; left > 0; left -= LANES) {
    const mve_pred16_t lanes = vctp16q((uint32_t)left);
    int16x8_t sum = start;
    const int8_t *row = first;
    for (int32_t rows = window->rows; rows > 0; --rows, row += window->row_step) {
      const int8_t *x = row;
      for (int32_t taps = window->columns; taps > 0; --taps, x += window->column_step) {
        sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
      }
    }
    store(divide_8(sum, divisor, reciprocal), lanes, output);
    first += LANES;
    output += LANES;
  }
}

void pl_average_window_s8(const pl_pool_window *window, int32_t offset, int32_t divisor,
                          int8_t *output) {
  const int32_t taps = window->rows * window->columns;
  if (taps <= MAX_TAPS &&
      taps * -INT8_MIN + (offset < 0 ? -offset : offset) + divisor / 2 <= INT16_MAX) {
    average_short(window, offset, (uint16_t)divisor, output);
    return;
  }
  const pl_divisor_mve by = pl_divisor_of((uint32_t)divisor);
  const int8_t *first = window->first;
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
