// SPDX-License-Identifier: Apache-2.0
// Logarithms: x = 2^n * m with m in [sqrt(1/2), sqrt(2)). log(m) = 2 atanh(s) by its series, with s
// = (m - 1) / (m + 1).
#include "kernels/common/exact_floats.h"

#include "kernels/common/float_bits.h"
#include "kernels/unary_f32/elementwise.h"

#define LOG_2_HIGH 0.693145751953125f
#define LOG_2_LOW 1.42860677e-06f
#define ROOT_2_BITS 0xb504f3u  // as a mantissa

static float logarithm(float x) {
  const uint32_t bits = pl_float_bits(x);
  if (x == 0.0f) return -__builtin_inff();
  if (x != x || bits == PL_FLOAT_INFINITY) return x;
  if (bits & PL_FLOAT_SIGN) return pl_float_of_bits(PL_FLOAT_NAN);
  const pl_float_parts parts = pl_split_float(bits);
  const int32_t above = parts.mantissa > ROOT_2_BITS;
  const int32_t n = parts.exponent + above;
  const float m = (float)parts.mantissa * (above ? 0x1p-24f : 0x1p-23f);
  const float f = m - 1.0f;
  const float s = f / (m + 1.0f);
  const float z = s * s;
  const float series =
      z * (2.0f / 3 + z * (2.0f / 5 + z * (2.0f / 7 + z * (2.0f / 9 + z * (2.0f / 11)))));
  // 2 s = f - s f, and f is exact.
  return (float)n * LOG_2_HIGH + (f - s * (f - series) + (float)n * LOG_2_LOW);
}

// The slope corrects the rounding error of 1 + x.
static float logarithm_of_1_and(float x) {
  const float u = 1.0f + x;
  if (u == 1.0f || x == __builtin_inff()) return x;
  return u > 0.0f ? logarithm(u) * (x / (u - 1.0f)) : logarithm(u);
}

PL_DEFINE_UNARY_F32(pl_log_f32, logarithm)
PL_DEFINE_UNARY_F32(pl_log1p_f32, logarithm_of_1_and)
