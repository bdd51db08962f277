// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_LUT_LINE_S16_H_
#define KERNELS_LUT_LINE_S16_H_

#include "kernels/common/types.h"

#define PL_LUT_STEP_BITS 7
#define PL_LUT_MIDDLE (1 << (15 - PL_LUT_STEP_BITS))
#define PL_LUT_ENTRIES (2 * PL_LUT_MIDDLE + 1)

// Number of values below 0, and from 0 on, with an entry of their own in lut_near_zero_s16.h.
#define PL_LUT_NEAR_ZERO 512

// Linear interpolation between the two entries around x, rounded to nearest, ties up. `middle` is
// the entry of 0.
static inline int16_t pl_lut_line_s16(const int16_t *middle, int32_t x) {
  const int16_t *entry = middle + (x >> PL_LUT_STEP_BITS);
  const int32_t rise = (entry[1] - entry[0]) * (x & ((1 << PL_LUT_STEP_BITS) - 1));
  return (int16_t)(entry[0] + ((rise + (1 << (PL_LUT_STEP_BITS - 1))) >> PL_LUT_STEP_BITS));
}

#endif  // KERNELS_LUT_LINE_S16_H_
