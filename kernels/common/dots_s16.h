// SPDX-License-Identifier: Apache-2.0
// Windows of int16 values times int8 weights, where no sum leaves 32 bits.
#ifndef KERNELS_COMMON_DOTS_S16_H_
#define KERNELS_COMMON_DOTS_S16_H_

#include <stdint.h>

// Channels computed together.
#define PL_DOTS 4

// Bias, multiplier and shift of each of them.
#define PL_DOTS_FACTORS (3 * PL_DOTS)

// A window is [rows][columns] runs of `count` values, and so are the weights of a channel.
typedef struct {
  int32_t rows;
  int32_t columns;
  int32_t count;
  int32_t row_step;     // values from run to run
  int32_t column_step;  // likewise
  int32_t weight_step;  // weights from row to row
  int32_t channels;
  int32_t weights;  // of a channel
  int32_t minimum;
  int32_t maximum;
} pl_dots_window;

// output[c] = clamp(bias + sum of x * weight[c], times multiplier / 2^32 * 2^shift), rounded as in
// wide.h. `factors` is bias, multiplier and shift, in [-30, -1], of PL_DOTS channels, then of the
// next. The last group begins PL_DOTS channels before the end, even if it overlaps the group
// before.
void pl_dots_s16(const pl_dots_window *of, const int16_t *x, const int8_t *weight,
                 const int32_t *factors, int16_t *output);

// Number of factors for this many channels.
static inline int32_t pl_dots_factors(int32_t channels) {
  return (channels + PL_DOTS - 1) / PL_DOTS * PL_DOTS_FACTORS;
}

// Offsets of the other channels' weights from those of the first.
typedef struct {
  int32_t second;
  int32_t third;
  int32_t fourth;
} pl_dots_steps;

// Offsets for `weights` weights a channel. The last channel replaces missing ones.
static inline pl_dots_steps pl_dots_steps_of(int32_t channels, int32_t weights) {
  if (channels > 3) return (pl_dots_steps){weights, 2 * weights, 3 * weights};
  const int32_t second = channels > 1 ? weights : 0;
  const int32_t third = channels > 2 ? 2 * weights : second;
  return (pl_dots_steps){second, third, third};
}

#endif  // KERNELS_COMMON_DOTS_S16_H_
