// SPDX-License-Identifier: Apache-2.0
// Exponentials: x = n * log(2) + r with |r| <= log(2) / 2; exp(r) - 1 by its series.
#include "kernels/common/exact_floats.h"

#include "kernels/common/float_bits.h"
#include "kernels/unary_f32/elementwise.h"

#define LOG2_E 1.44269504f
// log(2) in two parts. The first is short enough for an exact n times it.
#define LOG_2_HIGH 0.693145751953125f
#define LOG_2_LOW 1.42860677e-06f

// 2^n for n in [-126, 127].
static inline float power_of_2(int32_t n) {
  return pl_float_of_bits((uint32_t)(n + PL_FLOAT_BIAS) << 23);
}

static inline int32_t nearest(float x) { return (int32_t)(x < 0.0f ? x - 0.5f : x + 0.5f); }

// exp(x) - 1 less 2^n - 1, over 2^n.
static inline float fraction(float x, int32_t n) {
  const float r = (x - (float)n * LOG_2_HIGH) - (float)n * LOG_2_LOW;
  const float series =
      0.5f +
      r * (1.0f / 6 + r * (1.0f / 24 + r * (1.0f / 120 + r * (1.0f / 720 + r * (1.0f / 5040)))));
  return r + r * r * series;
}

static float exponential(float x) {
  if (x != x) return x;
  if (x > 88.7228394f) return __builtin_inff();
  if (x < -103.972084f) return 0.0f;
  const int32_t n = nearest(x * LOG2_E);
  // Two steps, because 2^n itself may overflow or be subnormal.
  const int32_t half = n / 2;
  return (1.0f + fraction(x, n)) * power_of_2(half) * power_of_2(n - half);
}

static float exponential_less_1(float x) {
  if (x != x || x == 0.0f) return x;
  if (x > 17.0f) return exponential(x) - 1.0f;
  if (x < -18.0f) return -1.0f;
  const int32_t n = nearest(x * LOG2_E);
  const float scale = power_of_2(n);
  return scale * fraction(x, n) + (scale - 1.0f);
}

static float sigmoid(float x) { return 1.0f / (1.0f + exponential(-x)); }

static float hyperbolic_tangent(float x) {
  if (x > 10.0f) return 1.0f;
  if (x < -10.0f) return -1.0f;
  const float e = exponential_less_1(2.0f * x);
  return e / (e + 2.0f);
}

// Up to 1 by the series. Beyond 1 it is 1 - exp(-x^2) * q. q is a polynomial in 1 / (x + 2), fitted
// to exp(x^2) * erfc(x) on [0.9, 4.1].
static float error_function(float x) {
  const float magnitude = x < 0.0f ? -x : x;
  const float square = x * x;
  if (magnitude <= 1.0f) {
    float sum = -1.0f / 6894720;
    sum = 1.0f / 685440 + square * sum;
    sum = -1.0f / 75600 + square * sum;
    sum = 1.0f / 9360 + square * sum;
    sum = -1.0f / 1320 + square * sum;
    sum = 1.0f / 216 + square * sum;
    sum = -1.0f / 42 + square * sum;
    sum = 1.0f / 10 + square * sum;
    sum = -1.0f / 3 + square * sum;
    return 1.12837917f * (x + x * square * sum);
  }
  if (x != x) return x;
  float value = 1.0f;
  if (magnitude < 4.0f) {
    const float t = 1.0f / (magnitude + 2.0f);
    float q = -3.20911848f;
    q = -2.14514579f + t * q;
    q = 6.64379319f + t * q;
    q = 0.753636183f + t * q;
    q = 1.33309731f + t * q;
    q = 0.546352385f + t * q;
    q = 0.000639460974f + t * q;
    value = 1.0f - exponential(-square) * q;
  }
  return x < 0.0f ? -value : value;
}

PL_DEFINE_UNARY_F32(pl_exp_f32, exponential)
PL_DEFINE_UNARY_F32(pl_expm1_f32, exponential_less_1)
PL_DEFINE_UNARY_F32(pl_sigmoid_f32, sigmoid)
PL_DEFINE_UNARY_F32(pl_tanh_f32, hyperbolic_tangent)
PL_DEFINE_UNARY_F32(pl_erf_f32, error_function)
