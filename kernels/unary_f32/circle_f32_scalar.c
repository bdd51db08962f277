// SPDX-License-Identifier: Apache-2.0
// Sine and cosine. The angle is in quarter turns, in integers, with enough bits of 2 / pi. The rest
// after the nearest quarter uses a series. The arctangent uses a series, too.
#include "kernels/common/exact_floats.h"

#include "kernels/common/float_bits.h"
#include "kernels/unary_f32/elementwise.h"

#define QUARTER_PI 0.785398163f

// 2 / pi in binary after 64 zeros, the words in order.
static const uint32_t kTwoOverPi[] = {
    0, 0, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu,
};

typedef struct {
  uint32_t quarter;  // mod 4
  float rest;        // in [-pi/4, pi/4]
} angle;

// The bits of the table from `bit` on.
static uint32_t word_at(int32_t bit) {
  const uint32_t *word = kTwoOverPi + bit / 32;
  const int32_t offset = bit % 32;
  return offset == 0 ? word[0] : (word[0] << offset) | (word[1] >> (32 - offset));
}

// For finite x.
static angle reduced(float x) {
  const uint32_t bits = pl_float_bits(x);
  const float magnitude = pl_float_of_bits(bits & ~PL_FLOAT_SIGN);
  if (magnitude <= QUARTER_PI) return (angle){0, x};
  const pl_float_parts parts = pl_split_float(bits & ~PL_FLOAT_SIGN);
  // mantissa * 2 / pi * 2^(exponent - 23 + 62). Its low 64 bits are the angle mod 4 in Q62.
  const int32_t first = 64 + parts.exponent - 23 + 62 - 64;
  const uint64_t high = (uint64_t)word_at(first) << 32 | word_at(first + 32);
  const uint64_t low = (uint64_t)parts.mantissa * word_at(first + 64) >> 32;
  uint64_t turns = parts.mantissa * high + low;
  if (bits & PL_FLOAT_SIGN) turns = 0 - turns;
  const uint32_t quarter = (uint32_t)((turns + ((uint64_t)1 << 61)) >> 62);
  const int64_t left = (int64_t)(turns << 2);
  return (angle){quarter & 3, (float)left * (1.57079633f * 0x1p-64f)};
}

static float near_sine(float x) {
  const float z = x * x;
  const float series = -1.0f / 6 + z * (1.0f / 120 + z * (-1.0f / 5040 + z * (1.0f / 362880)));
  return x + x * z * series;
}

static float near_cosine(float x) {
  const float z = x * x;
  const float series = 1.0f / 24 + z * (-1.0f / 720 + z * (1.0f / 40320 + z * (-1.0f / 3628800)));
  return 1.0f - 0.5f * z + z * z * series;
}

static float turned(float x, uint32_t by) {
  if ((pl_float_bits(x) & ~PL_FLOAT_SIGN) >= PL_FLOAT_INFINITY)
    return pl_float_of_bits(PL_FLOAT_NAN);
  const angle a = reduced(x);
  const uint32_t quarter = a.quarter + by;
  const float value = quarter & 1 ? near_cosine(a.rest) : near_sine(a.rest);
  return quarter & 2 ? -value : value;
}

static float sine(float x) { return turned(x, 0); }

static float cosine(float x) { return turned(x, 1); }

// For |x| <= tan(pi/8).
static float near_arctangent(float x) {
  const float z = x * x;
  float sum = -1.0f / 19;
  sum = 1.0f / 17 + z * sum;
  sum = -1.0f / 15 + z * sum;
  sum = 1.0f / 13 + z * sum;
  sum = -1.0f / 11 + z * sum;
  sum = 1.0f / 9 + z * sum;
  sum = -1.0f / 7 + z * sum;
  sum = 1.0f / 5 + z * sum;
  sum = -1.0f / 3 + z * sum;
  return x + x * z * sum;
}

static float arctangent(float x) {
  const float magnitude = x < 0.0f ? -x : x;
  if (magnitude <= 0.414213562f || x != x) return near_arctangent(x);
  const float value = magnitude > 2.41421356f
                          ? 2.0f * QUARTER_PI - near_arctangent(1.0f / magnitude)
                          : QUARTER_PI + near_arctangent((magnitude - 1.0f) / (magnitude + 1.0f));
  return x < 0.0f ? -value : value;
}

PL_DEFINE_UNARY_F32(pl_sin_f32, sine)
PL_DEFINE_UNARY_F32(pl_cos_f32, cosine)
PL_DEFINE_UNARY_F32(pl_atan_f32, arctangent)
