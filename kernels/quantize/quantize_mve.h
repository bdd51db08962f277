// SPDX-License-Identifier: Apache-2.0
// Quantizes four values, for cores with float Helium.
#ifndef KERNELS_QUANTIZE_QUANTIZE_MVE_H_
#define KERNELS_QUANTIZE_QUANTIZE_MVE_H_

#include <arm_mve.h>
#include <stdbool.h>

#include "kernels/common/float_bits.h"

// Float vectors treat values below 2^-126 as 0. With factors from 2^-126 to 2^125 no result
// changes. The factor itself is not denormal, and a denormal input would stay below one half.
static inline bool pl_is_exact_mve(float inverse_scale) {
  const uint32_t bits = pl_float_bits(inverse_scale);
  return bits >= 0x00800000u && bits <= 0x7e000000u;
}

// rint(input * inverse_scale) of four values, ties to even, saturated; VCVTN makes 0 of NaN.
static inline int32x4_t pl_scale_mve_f32(const float *input, float inverse_scale,
                                         mve_pred16_t lanes) {
  const float32x4_t x = vldrwq_z_f32(input, lanes);
  return vcvtnq_x_s32_f32(vmulq_x_n_f32(x, inverse_scale, lanes), lanes);
}

#endif  // KERNELS_QUANTIZE_QUANTIZE_MVE_H_
