// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/optimized.h"

#include "kernels/common/dots_s16.h"

#include "kernels/common/dots_mve.h"

static inline void add_window(pl_dots *dots, const pl_dots_window *of, const pl_dots_runs *runs,
                              const int16_t *x, const int8_t *weight, pl_dots_steps steps) {
  if (of->rows == 0 || of->count == 0) return;
  for (int32_t left = of->columns; left > 0; --left) {
    pl_dots_at(dots, x, weight, steps);
    pl_dots_rows(dots, runs, of->rows);
    x += of->column_step;
    weight += of->count;
  }
}

// is_run is a constant: true if the window is one run, of at least one value.
PL_INLINE void multiply(const pl_dots_window *of, const int16_t *x, const int8_t *weight,
                        const int32_t *factors, int16_t *output, int is_run) {
  const int32x4_t minimum = vdupq_n_s32(of->minimum);
  const int32x4_t maximum = vdupq_n_s32(of->maximum);
  const mve_pred16_t lanes = vctp32q((uint32_t)of->channels);
  const pl_dots_steps steps = pl_dots_steps_of(of->channels, of->weights);
  const int32_t read = (of->count + PL_DOTS_LANES - 1) & -PL_DOTS_LANES;
  const pl_dots_runs runs = {of->count, 2 * (of->row_step - read), of->weight_step - read};
  for (int32_t left = of->channels;;) {
    pl_dots dots = {0};
    if (is_run) {
      pl_dots_at(&dots, x, weight, steps);
      pl_dots_run(&dots, of->count);
    } else {
      add_window(&dots, of, &runs, x, weight, steps);
    }
    vstrhq_p_s32(output, pl_dots_result(&dots, factors, minimum, maximum), lanes);
    factors += PL_DOTS_FACTORS;
    left -= PL_DOTS;
    if (left <= 0) return;
    const int32_t next = left < PL_DOTS ? left : PL_DOTS;
    weight += next * of->weights;
    output += next;
  }
}

void pl_dots_s16(const pl_dots_window *of, const int16_t *x, const int8_t *weight,
                 const int32_t *factors, int16_t *output) {
  if (of->rows == 1 && of->columns == 1 && of->count > 0) {
    multiply(of, x, weight, factors, output, 1);
  } else {
    multiply(of, x, weight, factors, output, 0);
  }
}
