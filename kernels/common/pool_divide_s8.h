// SPDX-License-Identifier: Apache-2.0
// Conversion of sums to results in average pools.
#ifndef KERNELS_COMMON_POOL_DIVIDE_S8_H_
#define KERNELS_COMMON_POOL_DIVIDE_S8_H_

#include "kernels/common/requantize.h"

// sum / divisor, ties away from zero, saturated: the rounding half has the sum's sign.
static inline int8_t pl_divided(const void *divisor, int32_t sum) {
  const int32_t by = *(const int32_t *)divisor;
  const int32_t sign = sum >> 31;
  const int32_t half = (by / 2 ^ sign) - sign;
  return (int8_t)PL_SATURATE((sum + half) / by, 8);
}

#endif  // KERNELS_COMMON_POOL_DIVIDE_S8_H_
