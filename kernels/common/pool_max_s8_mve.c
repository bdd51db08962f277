// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/places_mve.h"
#include "kernels/common/pool_s8.h"

#define LANES 16
#define INLINE static inline __attribute__((always_inline))

// Windows with few channels: as many as a vector has lanes for.
static void max_of_several(const pl_pool_window *window, int32_t count, int32_t step,
                           int8_t *output) {
  const pl_pool_window of = *window;
  const int32_t together = LANES / of.channels;
  const uint8x16_t at = pl_places_of_16(of.channels, step);
  const int8_t *first = of.first;
  for (; count > 0; count -= together) {
    const mve_pred16_t lanes =
        vctp8q((uint32_t)((count < together ? count : together) * of.channels));
    int8x16_t max = vdupq_n_s8(INT8_MIN);
    const int8_t *row = first;
    for (int32_t rows = of.rows; rows > 0; --rows, row += of.row_step) {
      const int8_t *x = row;
      for (int32_t column = of.columns; column > 0; --column, x += of.column_step) {
        max = vmaxq_s8(max, vldrbq_gather_offset_z_s8(x, at, lanes));
      }
    }
    vstrbq_p_s8(output, max, lanes);
    first += together * step;
    output += together * of.channels;
  }
}

// Sixteen channels, or those of some lanes. In all windows there is a tap.
INLINE int8x16_t max_of(const int8_t *x, const pl_pool_window *of, int32_t rows, int32_t columns) {
  const int32_t row_step = of->row_step;
  const int32_t column_step = of->column_step;
  int8x16_t max = vdupq_n_s8(INT8_MIN);
#pragma GCC unroll 2
  for (int32_t row = 0; row < rows; ++row, x += row_step) {
    const int8_t *at = x;
#pragma GCC unroll 2
    for (int32_t column = 0; column < columns; ++column, at += column_step) {
      max = vmaxq_s8(max, vldrbq_s8(at));
    }
  }
  return max;
}

INLINE int8x16_t max_of_lanes(const int8_t *x, const pl_pool_window *of, mve_pred16_t lanes) {
  int8x16_t max = vdupq_n_s8(INT8_MIN);
  for (int32_t rows = of->rows; rows > 0; --rows, x += of->row_step) {
    const int8_t *at = x;
    for (int32_t column = of->columns; column > 0; --column, at += of->column_step) {
      max = vmaxq_s8(max, vldrbq_z_s8(at, lanes));
    }
  }
  return max;
}

// `rows` and `columns` are constants where this is inlined, for windows of 2x2.
INLINE void max_of_each(pl_pool_window of, int32_t rows, int32_t columns, int32_t count,
                        int32_t step, int8_t *output) {
  const int8_t *first = of.first;
  for (; count > 0; --count, first += step) {
    const int8_t *x = first;
    int32_t left = of.channels;
    for (; left >= LANES; left -= LANES) {
      vstrbq_s8(output, max_of(x, &of, rows, columns));
      x += LANES;
      output += LANES;
    }
    if (left > 0) {
      const mve_pred16_t lanes = vctp8q((uint32_t)left);
      vstrbq_p_s8(output, max_of_lanes(x, &of, lanes), lanes);
      output += left;
    }
  }
}

void pl_max_windows_s8(const pl_pool_window *window, int32_t count, int32_t step, int8_t *output) {
  if (pl_few_channels(window->channels, step, count)) {
    max_of_several(window, count, step, output);
  } else if (window->rows == 2 && window->columns == 2) {
    max_of_each(*window, 2, 2, count, step, output);
  } else {
    max_of_each(*window, window->rows, window->columns, count, step, output);
  }
}
