// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/float_bits.h"
#include "kernels/unary_f32/elementwise.h"

// Every float is an integer from here on.
#define WHOLE 8388608.0f

static float truncated(float x) {
  if (!(x > -WHOLE && x < WHOLE)) return x;
  return (float)(int32_t)x;
}

static float floored(float x) {
  const float t = truncated(x);
  return t > x ? t - 1.0f : t;
}

static float raised(float x) {
  const float t = truncated(x);
  return t < x ? t + 1.0f : t;
}

// Adding this number rounds: from there on floats are integers.
static float rounded(float x) {
  if (!(x > -WHOLE && x < WHOLE)) return x;
  return x < 0.0f ? (x - WHOLE) + WHOLE : (x + WHOLE) - WHOLE;
}

PL_DEFINE_UNARY_F32(pl_trunc_f32, truncated)
PL_DEFINE_UNARY_F32(pl_floor_f32, floored)
PL_DEFINE_UNARY_F32(pl_ceil_f32, raised)
PL_DEFINE_UNARY_F32(pl_round_f32, rounded)
