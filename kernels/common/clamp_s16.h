// SPDX-License-Identifier: Apache-2.0
// The fused activation of int16 results, for kernels whose loops saturate to int16 anyway.
#ifndef KERNELS_COMMON_CLAMP_S16_H_
#define KERNELS_COMMON_CLAMP_S16_H_

#include "kernels/common/requantize.h"

// Clamps all values before `end`; does nothing if the limits are those of int16.
static inline void pl_clamp_s16(int16_t *values, const int16_t *end, int32_t minimum,
                                int32_t maximum) {
  if (maximum - minimum == INT16_MAX - INT16_MIN) return;
  for (; values != end; ++values) *values = (int16_t)pl_clamp(*values, minimum, maximum);
}

#endif  // KERNELS_COMMON_CLAMP_S16_H_
