// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/pool_s8.h"

void pl_max_window_s8(const pl_pool_window *window, int8_t *output) {
  const int8_t *first = window->first;
  for (int32_t left = window->channels; left > 0; left -= 16) {
    const mve_pred16_t lanes = vctp8q((uint32_t)left);
    int8x16_t max = vdupq_n_s8(INT8_MIN);
    const int8_t *row_first = first;
    for (int32_t row = window->rows; row > 0; --row, row_first += window->row_step) {
      const int8_t *x = row_first;
      for (int32_t column = window->columns; column > 0; --column, x += window->column_step) {
        max = vmaxq_s8(max, vldrbq_z_s8(x, lanes));
      }
    }
    vstrbq_p_s8(output, max, lanes);
    first += 16;
    output += 16;
  }
}
