// SPDX-License-Identifier: Apache-2.0
// How pooling on Helium goes through windows and channels; what it does with a tap is the kernel's.
#ifndef KERNELS_COMMON_POOL_WALK_MVE_H_
#define KERNELS_COMMON_POOL_WALK_MVE_H_

#include "kernels/common/places_mve.h"
#include "kernels/common/pool_s8.h"

#define PL_POOL_LANES 16
#define PL_POOL_INLINE static inline __attribute__((always_inline))

// Takes one more tap, at x, into the sums.
typedef void pl_pool_tap(void *sums, const int8_t *x);

// All taps of a window, of which there is at least one. Where `rows` is a constant the window is of
// 2x2, else where `columns` is it has three: a loop over so few takes longer than they do.
PL_POOL_INLINE void pl_walk_taps(const pl_pool_window *of, int32_t rows, int32_t columns,
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
      tap(sums, first + step);
      tap(sums, first + 2 * step);
    } else {
      const int8_t *x = first;
      for (int32_t left = columns; left > 0; --left, x += step) tap(sums, x);
    }
    first += row_step;
  } while (--rows > 0);
}

// What a kernel does with a window of 16 channels, of up to 16, and with as many windows of few
// channels as go into a vector.
typedef struct {
  void (*all)(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
              const int8_t *first, int8_t *output);
  void (*rest)(const void *op, const pl_pool_window *of, int32_t rows, int32_t columns,
               const int8_t *first, int32_t channels, int8_t *output);
  void (*several)(const void *op, const pl_pool_window *of, int32_t count, int32_t step,
                  int8_t *output);
  int counts;  // whether vectors of 16 are counted first: shorter, where a register is left for it
} pl_pool_functions;

PL_POOL_INLINE void pl_walk_each(pl_pool_window of, int32_t rows, int32_t columns, int32_t channels,
                                 int32_t count, int32_t step, const pl_pool_functions *functions,
                                 const void *op, int8_t *output) {
  const int8_t *first = of.first;
  const uint32_t vectors = functions->counts ? (uint32_t)channels / PL_POOL_LANES : 0;
  for (; count > 0; --count, first += step) {
    const int8_t *x = first;
    int32_t left = channels;
    for (uint32_t vector = vectors; vector > 0; --vector) {
      functions->all(op, &of, rows, columns, x, output);
      x += PL_POOL_LANES;
      output += PL_POOL_LANES;
    }
    if (functions->counts) left = (int32_t)((uint32_t)channels % PL_POOL_LANES);
    for (; left >= PL_POOL_LANES; left -= PL_POOL_LANES) {
      functions->all(op, &of, rows, columns, x, output);
      x += PL_POOL_LANES;
      output += PL_POOL_LANES;
    }
    if (left > 0) {
      functions->rest(op, &of, rows, columns, x, left, output);
      output += left;
    }
  }
}

// Windows that are one pixel apart are one window, with the channels of all.
PL_POOL_INLINE void pl_walk_windows(const pl_pool_window *window, int32_t count, int32_t step,
                                    const pl_pool_functions *functions, const void *op,
                                    int8_t *output) {
  const int32_t columns = window->columns;
  int32_t channels = window->channels;
  if (step == channels) {
    channels *= count;
    count = 1;
  }
  if (pl_few_channels(channels, step, count)) {
    functions->several(op, window, count, step, output);
  } else if (columns == 2 && window->rows == 2) {
    pl_walk_each(*window, 2, 2, channels, count, step, functions, op, output);
  } else if (columns == 3) {
    pl_walk_each(*window, window->rows, 3, channels, count, step, functions, op, output);
  } else {
    pl_walk_each(*window, window->rows, columns, channels, count, step, functions, op, output);
  }
}

// Sums of 16 bits: of 16 channels, and of up to eight.
typedef struct {
  int16x8_t low;
  int16x8_t high;
} pl_pool_sums;

typedef struct {
  int16x8_t sum;
  mve_pred16_t lanes;
} pl_pool_sum;

PL_POOL_INLINE void pl_pool_add(void *sums, const int8_t *x) {
  pl_pool_sums *const s = sums;
  s->low = vaddq_s16(s->low, vldrbq_s16(x));
  s->high = vaddq_s16(s->high, vldrbq_s16(x + 8));
}

PL_POOL_INLINE void pl_pool_add_lanes(void *sum, const int8_t *x) {
  pl_pool_sum *const s = sum;
  s->sum = vaddq_s16(s->sum, vldrbq_z_s16(x, s->lanes));
}

// Of windows with few channels, which are at `at` from the first tap of the first.
PL_POOL_INLINE int16x8_t pl_pool_sum_of_several(const pl_pool_window *of, const int8_t *first,
                                                uint16x8_t at, mve_pred16_t lanes, int16x8_t sum) {
  for (int32_t rows = of->rows; rows > 0; --rows, first += of->row_step) {
    const int8_t *x = first;
    for (int32_t columns = of->columns; columns > 0; --columns, x += of->column_step) {
      sum = vaddq_s16(sum, vldrbq_gather_offset_z_s16(x, at, lanes));
    }
  }
  return sum;
}

#endif  // KERNELS_COMMON_POOL_WALK_MVE_H_
