// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/sqrt_f32.h"

#include "kernels/common/float_bits.h"

float pl_sqrt_f32(float x) {
  const uint32_t bits = pl_float_bits(x);
  const uint32_t magnitude = bits & ~PL_FLOAT_SIGN;
  if (magnitude > PL_FLOAT_INFINITY || magnitude == 0 || bits == PL_FLOAT_INFINITY) return x;
  if (bits != magnitude) return pl_float_of_bits(PL_FLOAT_NAN);
  const pl_float_parts parts = pl_split_float(bits);
  const int32_t odd = parts.exponent & 1;

  // The root of mantissa * 2^25 (twice that for an odd exponent), with two radicand bits per step:
  // 24 bits of the result and one for rounding. A tie is impossible: its square would be odd.
  uint32_t radicand = parts.mantissa << (7 + odd);
  uint32_t root = 0;
  uint32_t remainder = 0;
  for (int step = 0; step < 25; ++step) {
    remainder = (remainder << 2) | (radicand >> 30);
    radicand <<= 2;
    root <<= 1;
    if (remainder > 2 * root) {
      remainder -= 2 * root + 1;
      ++root;
    }
  }
  const int32_t exponent = (parts.exponent - odd) / 2 + PL_FLOAT_BIAS;
  // The mantissa's leading bit adds one to the exponent's field.
  return pl_float_of_bits(((uint32_t)(exponent - 1) << 23) + ((root + 1) >> 1));
}
