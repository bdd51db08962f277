// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/float_bits.h"
#include "kernels/pow/pow.h"

// 2^(2^-k) for k = 1, 2, ..., as Q31.
static const uint32_t kExp2[] = {
    3037000500u, 2553802834u, 2341847524u, 2242560872u, 2194507417u, 2170868212u, 2159144272u,
    2153306067u, 2150392887u, 2148937775u, 2148210589u, 2147847087u, 2147665360u, 2147574502u,
    2147529075u, 2147506361u, 2147495005u, 2147489326u, 2147486487u, 2147485068u, 2147484358u,
    2147484003u, 2147483825u, 2147483737u, 2147483692u, 2147483670u,
};
#define EXP2_BITS ((int32_t)(sizeof(kExp2) / sizeof(kExp2[0])))

// log2 of mantissa * 2^(exponent - 23) in Q30. One bit is set each time the square reaches 2.
static int64_t log2_q30(pl_float_parts x) {
  uint32_t m = x.mantissa << 8;  // Q31, in [1, 2)
  uint32_t fraction = 0;
  for (uint32_t bit = 1u << 29; bit != 0; bit >>= 1) {
    const uint64_t square = (uint64_t)m * m;
    if (square >> 63) {
      fraction |= bit;
      m = (uint32_t)(square >> 32);
    } else {
      m = (uint32_t)(square >> 31);
    }
  }
  return (int64_t)x.exponent * (1 << 30) + fraction;
}

// Bits of 2^t, t in Q30, with overflow to infinity and gradual underflow.
static uint32_t exp2_q30(int64_t t) {
  if (t >= ((int64_t)128 << 30)) return PL_FLOAT_INFINITY;
  if (t < -((int64_t)151 << 30)) return 0;
  int32_t exponent = (int32_t)(t >> 30) + PL_FLOAT_BIAS;
  uint32_t m = 1u << 31;  // Q31, in [1, 2)
  for (int32_t k = 0; k < EXP2_BITS; ++k) {
    if (t & (1 << (29 - k))) m = (uint32_t)(((uint64_t)m * kExp2[k]) >> 31);
  }
  // Eight bits are rounded off, more where the result is subnormal.
  const int32_t dropped = exponent > 0 ? 8 : 9 - exponent;
  if (dropped > 31) return 0;
  const uint32_t rounded = (uint32_t)(((uint64_t)m + (1u << (dropped - 1))) >> dropped);
  // The mantissa's leading bit adds one to the exponent's field.
  return rounded + (exponent > 0 ? (uint32_t)(exponent - 1) << 23 : 0);
}

static uint32_t power(uint32_t bits, const pl_pow_params *params) {
  const uint32_t magnitude = bits & ~PL_FLOAT_SIGN;
  const uint32_t sign = params->parity == PL_POW_ODD ? bits & PL_FLOAT_SIGN : 0;
  if (params->mantissa == 0) return 0x3f800000u;  // 1
  if (magnitude > PL_FLOAT_INFINITY) return bits;
  if (magnitude == 0 || magnitude == PL_FLOAT_INFINITY) {
    const int grows = (magnitude == 0) == (params->mantissa < 0);
    return sign | (grows ? PL_FLOAT_INFINITY : 0);
  }
  if (bits != magnitude && params->parity == PL_POW_BROKEN) return PL_FLOAT_NAN;
  const int64_t log2 = log2_q30(pl_split_float(magnitude));
  const int64_t product = log2 * params->mantissa;
  const int64_t half = (int64_t)1 << (params->shift - 1);
  return sign | exp2_q30((product + half) >> params->shift);
}

pl_status pl_pow_f32(const pl_context *ctx, const pl_pow_params *params, const pl_pow_dims *dims,
                     const pl_pow_data *data) {
  (void)ctx;
  for (int32_t i = 0; i < dims->size; ++i) {
    data->output[i] = pl_float_of_bits(power(pl_float_bits(data->input[i]), params));
  }
  return PL_OK;
}
