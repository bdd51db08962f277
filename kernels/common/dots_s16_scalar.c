// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dots_by_runs.h"

void pl_dots_s16(const pl_dots_window *of, const int16_t *x, const int8_t *weight,
                 const int32_t *factors, int16_t *output) {
  pl_dots_by_runs(of, x, weight, factors, output, pl_dots_one_by_one);
}
