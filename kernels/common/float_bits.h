// SPDX-License-Identifier: Apache-2.0
// Float32 as bits, for arithmetic that is the same with and without a floating point unit.
#ifndef KERNELS_COMMON_FLOAT_BITS_H_
#define KERNELS_COMMON_FLOAT_BITS_H_

#include <stdint.h>

#define PL_FLOAT_INFINITY 0x7f800000u
#define PL_FLOAT_NAN 0x7fc00000u
#define PL_FLOAT_SIGN 0x80000000u
#define PL_FLOAT_BIAS 127

static inline uint32_t pl_float_bits(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof(bits));
  return bits;
}

static inline float pl_float_of_bits(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, sizeof(value));
  return value;
}

// A finite value > 0 as mantissa * 2^(exponent - 23), mantissa in [2^23, 2^24).
typedef struct {
  uint32_t mantissa;
  int32_t exponent;
} pl_float_parts;

static inline pl_float_parts pl_split_float(uint32_t bits) {
  const uint32_t fraction = bits & 0x7fffffu;
  const int32_t biased = (int32_t)(bits >> 23);
  if (biased > 0) return (pl_float_parts){fraction | 0x800000u, biased - PL_FLOAT_BIAS};
  const int32_t zeros = __builtin_clz(fraction) - 8;
  return (pl_float_parts){fraction << zeros, 1 - PL_FLOAT_BIAS - zeros};
}

#endif  // KERNELS_COMMON_FLOAT_BITS_H_
