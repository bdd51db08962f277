// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_by_4_s8.h"
#include "kernels/common/pool_divide_s8.h"

void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output) {
  const pl_windows of = {count, step, offset, output};
  if (window->channels < PL_CHANNELS) {
    pl_pool_few(*window, of, &divisor, pl_divided);
  } else {
    pl_pool_fours(*window, of, pl_sum_4_s8, &divisor, pl_divided);
  }
}
