// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"

int32_t pl_requantize_up(int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t limit = INT32_MAX >> shift;
  const int32_t saturated = x > limit        ? INT32_MAX
                            : x < -limit - 1 ? INT32_MIN
                                             : (int32_t)((uint32_t)x << shift);
  return pl_multiply_high_rounding(saturated, multiplier);
}
