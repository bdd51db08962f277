// SPDX-License-Identifier: Apache-2.0
// Rounding of floats, for the ways to quantize.
#ifndef KERNELS_QUANTIZE_RINT_H_
#define KERNELS_QUANTIZE_RINT_H_

#include "kernels/common/float_bits.h"

// rint(x) for |x| < 2^22. Adding 1.5 * 2^23 rounds a small value to an integer, ties to even. The
// integer is in the sum's low bits.
static inline int32_t pl_rint(float x) {
  const float rounder = 12582912.0f;
  return (int32_t)(pl_float_bits(x + rounder) - pl_float_bits(rounder));
}

#endif  // KERNELS_QUANTIZE_RINT_H_
