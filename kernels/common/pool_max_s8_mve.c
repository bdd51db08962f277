// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "kernels/common/pool_walk_mve.h"

// Windows with few channels: as many as a vector has lanes for.
static void max_of_several(const void *op, const pl_pool_window *window, int32_t count,
                           int32_t step, int8_t *output) {
  (void)op;
  const pl_pool_window of = *window;
  const int32_t together = PL_POOL_LANES / of.channels;
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

PL_INLINE void larger(void *max, const int8_t *x) {
  int8x16_t *const m = max;
  *m = vmaxq_s8(*m, vldrbq_s8(x));
}

PL_INLINE void max_of(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
                      const int8_t *first, int32_t second, int8_t *output) {
  (void)op;
  (void)second;
  int8x16_t max = vldrbq_s8(first);
  pl_walk_taps(of, rows, columns, first, larger, &max);
  vstrbq_s8(output, max);
}

// Channels of some lanes.
typedef struct {
  int8x16_t max;
  mve_pred16_t lanes;
} max_of_some;

PL_INLINE void larger_of_lanes(void *of, const int8_t *x) {
  max_of_some *const some = of;
  some->max = vmaxq_s8(some->max, vldrbq_z_s8(x, some->lanes));
}

PL_INLINE void max_of_lanes(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
                            const int8_t *first, int32_t channels, int8_t *output) {
  (void)op;
  const mve_pred16_t lanes = vctp8q((uint32_t)channels);
  max_of_some some = {vldrbq_z_s8(first, lanes), lanes};
  pl_walk_taps(of, rows, columns, first, larger_of_lanes, &some);
  vstrbq_p_s8(output, some.max, some.lanes);
}

// All windows have a tap. Windows one pixel apart are treated as one, with the channels of all.
void pl_max_windows_s8(const pl_pool_window *window, int32_t count, int32_t step, int8_t *output) {
  static const pl_pool_functions functions = {PL_POOL_LANES, max_of, max_of_lanes, max_of_several,
                                              1};
  pl_pool_window of = *window;
  if (step == of.channels) {
    of.channels *= count;
    count = 1;
  }
  pl_walk_row(&of, count, step, &functions, NULL, output);
}
