// SPDX-License-Identifier: Apache-2.0
// Quantizes one value.
#ifndef KERNELS_QUANTIZE_QUANTIZE_F32_H_
#define KERNELS_QUANTIZE_QUANTIZE_F32_H_

#include "kernels/common/requantize.h"
#include "kernels/quantize/rint.h"

// Integer comparisons of the bits are cheap with and without a floating point unit.
static inline int8_t pl_quantize_value_s8(float input, float inverse_scale, int32_t zero_point) {
  const uint32_t kBeyondInt8 = 0x44000000u;  // 512.0f
  const float scaled = input * inverse_scale;
  const uint32_t bits = pl_float_bits(scaled);
  const uint32_t magnitude = bits & ~PL_FLOAT_SIGN;
  if (magnitude < kBeyondInt8) {
    return (int8_t)pl_clamp(pl_rint(scaled) + zero_point, INT8_MIN, INT8_MAX);
  }
  if (magnitude > PL_FLOAT_INFINITY) return (int8_t)zero_point;
  return bits == magnitude ? INT8_MAX : INT8_MIN;
}

static inline int16_t pl_quantize_value_s16(float input, float inverse_scale) {
  const uint32_t kBeyondInt16 = 0x48000000u;  // 2^17
  const float scaled = input * inverse_scale;
  const uint32_t bits = pl_float_bits(scaled);
  const uint32_t magnitude = bits & ~PL_FLOAT_SIGN;
  if (magnitude < kBeyondInt16) return (int16_t)pl_clamp(pl_rint(scaled), INT16_MIN, INT16_MAX);
  if (magnitude > PL_FLOAT_INFINITY) return 0;
  return bits == magnitude ? INT16_MAX : INT16_MIN;
}

#endif  // KERNELS_QUANTIZE_QUANTIZE_F32_H_
