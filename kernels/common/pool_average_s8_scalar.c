// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_average_s8.h"

void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output) {
  const pl_averages of = {count, step, offset, divisor, output};
  if (window->channels < PL_AVERAGED) {
    pl_average_few(*window, of);
  } else {
    pl_average_fours(*window, of, pl_sum_4_s8);
  }
}
