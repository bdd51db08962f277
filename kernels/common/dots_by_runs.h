// SPDX-License-Identifier: Apache-2.0
// pl_dots_s16 on cores without Helium, using a function that adds the products of one run.
#ifndef KERNELS_COMMON_DOTS_BY_RUNS_H_
#define KERNELS_COMMON_DOTS_BY_RUNS_H_

#include "kernels/common/dots_s16.h"
#include "kernels/common/types.h"
#include "kernels/common/wide.h"

typedef struct {
  int32_t of0;
  int32_t of1;
  int32_t of2;
  int32_t of3;
} pl_dots_sums;

// sums + those of `count` values, at least one, by the weights of each channel.
typedef pl_dots_sums pl_dots_add_run(pl_dots_sums sums, const int16_t *x, const int8_t *weight,
                                     pl_dots_steps steps, int32_t count);

// One value at a time.
PL_INLINE pl_dots_sums pl_dots_one_by_one(pl_dots_sums sums, const int16_t *x, const int8_t *weight,
                                          pl_dots_steps steps, int32_t count) {
  for (const int16_t *end = x + count; x != end; ++x, ++weight) {
    sums.of0 += *x * weight[0];
    sums.of1 += *x * weight[steps.second];
    sums.of2 += *x * weight[steps.third];
    sums.of3 += *x * weight[steps.fourth];
  }
  return sums;
}

// add_run is a constant after inlining into the caller.
PL_INLINE void pl_dots_by_runs(const pl_dots_window *of, const int16_t *x, const int8_t *weight,
                               const int32_t *factors, int16_t *output, pl_dots_add_run *add_run) {
  const pl_dots_steps steps = pl_dots_steps_of(of->channels, of->weights);
  const int32_t lanes = of->channels < PL_DOTS ? of->channels : PL_DOTS;
  for (int32_t left = of->channels;;) {
    pl_dots_sums sums = {factors[0], factors[1], factors[2], factors[3]};
    const int16_t *row = x;
    const int8_t *of_row = weight;
    for (int32_t rows = of->count > 0 ? of->rows : 0; rows > 0; --rows) {
      const int16_t *run = row;
      const int8_t *of_run = of_row;
      for (int32_t columns = of->columns; columns > 0; --columns) {
        sums = add_run(sums, run, of_run, steps, of->count);
        run += of->column_step;
        of_run += of->count;
      }
      row += of->row_step;
      of_row += of->weight_step;
    }
    const int32_t all[PL_DOTS] = {sums.of0, sums.of1, sums.of2, sums.of3};
    for (int32_t lane = 0; lane < lanes; ++lane) {
      output[lane] =
          (int16_t)pl_wide_narrow_high(all[lane], factors[PL_DOTS + lane],
                                       -factors[2 * PL_DOTS + lane], of->minimum, of->maximum);
    }
    factors += PL_DOTS_FACTORS;
    left -= PL_DOTS;
    if (left <= 0) return;
    const int32_t next = left < PL_DOTS ? left : PL_DOTS;
    weight += next * of->weights;
    output += next;
  }
}

#endif  // KERNELS_COMMON_DOTS_BY_RUNS_H_
