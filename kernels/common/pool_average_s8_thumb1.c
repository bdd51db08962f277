// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/pool_by_4_s8.h"
#include "kernels/common/pool_divide_s8.h"

// Divisors up to this one: with a reciprocal of 23 bits after the point quotients below 256 are
// exact, and their products fit in 32 bits.
#define MOST_BY_RECIPROCAL 181
#define POINT 23

typedef struct {
  uint32_t half;
  uint32_t saturated;  // sums from here on
  uint32_t reciprocal;
} division;

// pl_divided without a division, which is a call on these cores.
static inline int8_t divided_by_product(const void *stage, int32_t sum) {
  const division *by = stage;
  const int32_t sign = sum >> 31;
  const uint32_t size = (uint32_t)((sum ^ sign) - sign) + by->half;
  if (size >= by->saturated) return (int8_t)(INT8_MAX ^ sign);
  const int32_t quotient = (int32_t)(size * by->reciprocal >> POINT);
  return (int8_t)PL_SATURATE((quotient ^ sign) - sign, 8);
}

void pl_average_windows_s8(const pl_pool_window *window, int32_t count, int32_t step,
                           int32_t offset, int32_t divisor, int8_t *output) {
  const pl_windows of = {count, step, offset, output};
  if (divisor > MOST_BY_RECIPROCAL) {
    if (window->channels < PL_CHANNELS) {
      pl_pool_few(*window, of, &divisor, pl_divided);
    } else {
      pl_pool_fours(*window, of, pl_sum_4_s8, &divisor, pl_divided);
    }
    return;
  }
  const uint32_t by = (uint32_t)divisor;
  const division stage = {by / 2, by << 8, ((1U << POINT) + by - 1) / by};
  if (window->channels < PL_CHANNELS) {
    pl_pool_few(*window, of, &stage, divided_by_product);
  } else {
    pl_pool_fours(*window, of, pl_sum_4_s8, &stage, divided_by_product);
  }
}
