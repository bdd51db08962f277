// SPDX-License-Identifier: Apache-2.0
// Iteration of pooling on Helium over windows and channels; the kernel provides the operation on a
// tap.
#ifndef KERNELS_COMMON_POOL_WALK_MVE_H_
#define KERNELS_COMMON_POOL_WALK_MVE_H_

#include "kernels/common/places_mve.h"
#include "kernels/common/pool_s8.h"
#include "kernels/common/types.h"

#define PL_POOL_LANES 16

// Takes one more tap, at x, into the sums.
typedef void pl_pool_tap(void *sums, const int8_t *x);

// All taps of a window; there is at least one. If `rows` is a constant, the window is 2x2.
// Otherwise, if `columns` is one, it has three or one. A loop over so few taps would take longer
// than the taps.
PL_INLINE void pl_walk_taps(const pl_pool_window *of, int32_t rows, int32_t columns,
                            const int8_t *first, pl_pool_tap *tap, void *sums) {
  const int32_t row_step = of->row_step;
  const int32_t step = of->column_step;
  if (__builtin_constant_p(rows)) {
    const int8_t *const second = first + row_step;
    tap(sums, first);
    tap(sums, first + step);
    tap(sums, second);
    tap(sums, second + step);
    return;
  }
  do {
    if (__builtin_constant_p(columns)) {
      tap(sums, first);
      if (columns == 3) {
        tap(sums, first + step);
        tap(sums, first + 2 * step);
      }
    } else {
      const int8_t *x = first;
      for (int32_t left = columns; left > 0; --left, x += step) tap(sums, x);
    }
    first += row_step;
  } while (--rows > 0);
}

// Operations of a kernel on three kinds of windows. The first has 16 channels, or `least` and more,
// in two vectors of 8; the second vector is `second` channels from the first. The next has fewer
// channels. The last is as many windows of few channels as fit a vector.
typedef struct {
  int32_t least;
  void (*all)(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
              const int8_t *first, int32_t second, int8_t *output);
  void (*rest)(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
               const int8_t *first, int32_t channels, int8_t *output);
  void (*several)(const void *op, const pl_pool_window *of, int32_t count, int32_t step,
                  int8_t *output);
  int is_short;  // no channel comes twice, and windows of one row do not come
} pl_pool_functions;

// Adjacent windows.
typedef struct {
  int32_t channels;
  int32_t count;
  int32_t step;
} pl_pool_row;

PL_INLINE void pl_walk_each(pl_pool_window of, int32_t rows, int32_t columns, pl_pool_row row,
                            const pl_pool_functions *functions, const void *op, int8_t *output) {
  const int32_t half = PL_POOL_LANES / 2;
  const int8_t *first = of.first;
  if (functions->is_short) {
    const uint32_t vectors = (uint32_t)row.channels / PL_POOL_LANES;
    const int32_t more = (int32_t)((uint32_t)row.channels % PL_POOL_LANES);
    for (; row.count > 0; --row.count, first += row.step) {
      const int8_t *x = first;
      for (uint32_t left = vectors; left > 0; --left) {
        functions->all(op, &of, rows, columns, x, half, output);
        x += PL_POOL_LANES;
        output += PL_POOL_LANES;
      }
      if (more > 0) {
        functions->rest(op, &of, rows, columns, x, more, output);
        output += more;
      }
    }
    return;
  }
  if (row.channels < functions->least) {
    for (; row.count > 0; --row.count, first += row.step, output += row.channels) {
      functions->rest(op, &of, rows, columns, first, row.channels, output);
    }
    return;
  }
  const int32_t last = row.channels - PL_POOL_LANES;
  for (; row.count > 0; --row.count, first += row.step, output += row.channels) {
    for (int32_t at = 0;; at += PL_POOL_LANES) {
      if (at > last) at = last;  // may have some of those before them, again
      functions->all(op, &of, rows, columns, first + at, half, output + at);
      if (at == last) break;
    }
  }
}

// For `least` to 16 channels.
PL_INLINE void pl_walk_two(pl_pool_window of, int32_t rows, int32_t columns, pl_pool_row row,
                           const pl_pool_functions *functions, const void *op, int8_t *output) {
  const int8_t *first = of.first;
  const int32_t second = row.channels - PL_POOL_LANES / 2;
  for (; row.count > 0; --row.count, first += row.step, output += row.channels) {
    functions->all(op, &of, rows, columns, first, second, output);
  }
}

PL_INLINE void pl_walk_row(const pl_pool_window *window, int32_t count, int32_t step,
                           const pl_pool_functions *functions, const void *op, int8_t *output) {
  pl_pool_window of = *window;
  const pl_pool_row row = {of.channels, count, step};
  if (pl_few_channels(row.channels, step, count)) {
    functions->several(op, &of, count, step, output);
    return;
  }
  if (of.rows == 1 && of.columns == 4) {  // two rows of two
    of.rows = of.columns = 2;
    of.row_step = 2 * of.column_step;
  }
  const int32_t columns = of.columns;
  const int is_2x2 = columns == 2 && of.rows == 2;
  const int32_t most = is_2x2 ? PL_POOL_LANES : PL_POOL_LANES - 1;
  if (row.channels >= functions->least && row.channels <= most) {
    if (is_2x2) {
      pl_walk_two(of, 2, 2, row, functions, op, output);
    } else {
      pl_walk_two(of, of.rows, columns, row, functions, op, output);
    }
  } else if (is_2x2) {
    pl_walk_each(of, 2, 2, row, functions, op, output);
  } else if (columns == 3) {
    pl_walk_each(of, of.rows, 3, row, functions, op, output);
  } else if (of.rows == 1 && !functions->is_short) {  // its columns are rows
    of.row_step = of.column_step;
    pl_walk_each(of, columns, 1, row, functions, op, output);
  } else {
    pl_walk_each(of, of.rows, columns, row, functions, op, output);
  }
}

// Does all of a row, by pl_walk_row.
typedef void pl_pool_walk(const pl_pool_window *window, int32_t count, int32_t step, const void *op,
                          int8_t *output);

// Windows one pixel apart are treated as one, with the channels of all. None of them is computed
// twice, because the output may alias the input, from one pixel to the next.
PL_INLINE void pl_walk_windows(const pl_pool_window *window, int32_t count, int32_t step,
                               pl_pool_walk *walk, const void *op, int8_t *output) {
  if (step != window->channels || count == 1) {
    walk(window, count, step, op, output);
    return;
  }
  pl_pool_window of = *window;
  const int32_t channels = of.channels * count;
  const int32_t rest = channels > PL_POOL_LANES ? channels % PL_POOL_LANES : 0;
  of.channels = channels - rest;
  walk(&of, 1, 0, op, output);
  if (rest == 0) return;
  of.first += of.channels;
  output += of.channels;
  of.channels = rest;
  walk(&of, 1, 0, op, output);
}

// Sums of 16 bits: of two vectors of channels, and of up to eight.
typedef struct {
  int16x8_t low;
  int16x8_t high;
  int32_t second;
} pl_pool_sums;

typedef struct {
  int16x8_t sum;
  mve_pred16_t lanes;
} pl_pool_sum;

PL_INLINE void pl_pool_add(void *sums, const int8_t *x) {
  pl_pool_sums *const s = sums;
  s->low = vaddq_s16(s->low, vldrbq_s16(x));
  s->high = vaddq_s16(s->high, vldrbq_s16(x + s->second));
}

PL_INLINE void pl_pool_add_lanes(void *sum, const int8_t *x) {
  pl_pool_sum *const s = sum;
  s->sum = vaddq_s16(s->sum, vldrbq_z_s16(x, s->lanes));
}

// Converts sums to int8, in the low bytes.
typedef int16x8_t pl_pool_result(const void *op, int16x8_t sum);

// Windows with few channels, as many as go into eight lanes; sums begin with `start`. `result` is a
// constant where this is inlined.
PL_INLINE void pl_pool_several(const pl_pool_window *window, int32_t count, int32_t step,
                               int16x8_t start, pl_pool_result *result, const void *op,
                               int8_t *output) {
  const pl_pool_window of = *window;
  const int32_t together = PL_POOL_LANES / 2 / of.channels;
  const uint16x8_t at = pl_places_of_8(of.channels, step);
  const int8_t *first = of.first;
  for (; count > 0; count -= together) {
    const mve_pred16_t lanes =
        vctp16q((uint32_t)((count < together ? count : together) * of.channels));
    int16x8_t sum = start;
    const int8_t *row = first;
    for (int32_t rows = of.rows; rows > 0; --rows, row += of.row_step) {
      const int8_t *x = row;
      for (int32_t columns = of.columns; columns > 0; --columns, x += of.column_step) {
        sum = vaddq_s16(sum, vldrbq_gather_offset_z_s16(x, at, lanes));
      }
    }
    vstrbq_p_s16(output, result(op, sum), lanes);
    first += together * step;
    output += together * of.channels;
  }
}

#endif  // KERNELS_COMMON_POOL_WALK_MVE_H_
