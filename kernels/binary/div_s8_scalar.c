// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"
#include "kernels/common/requantize.h"

// Fraction bits of the quotient: the largest one, 255, still fits int32 with them.
#define FRACTION_BITS 23

static inline uint32_t magnitude(int32_t x) { return (uint32_t)(x < 0 ? -x : x); }

// The bounds of the activation have the output's zero point subtracted.
static inline int8_t divide(const pl_binary_params *params, const int16_t *table, int32_t a,
                            int32_t b) {
  (void)table;
  const int32_t dividend = a - params->a_zero_point;
  const int32_t divisor = b - params->b_zero_point;
  if (divisor == 0 && dividend != 0) {
    return (int8_t)((dividend < 0 ? params->activation_min : params->activation_max) +
                    params->output_zero_point);
  }
  const uint32_t d = divisor == 0 ? 1 : magnitude(divisor);
  const int32_t rounded = (int32_t)(((magnitude(dividend) << FRACTION_BITS) + d / 2) / d);
  const int32_t quotient = (dividend < 0) != (divisor < 0) ? -rounded : rounded;
  const int32_t y = pl_clamp(pl_requantize(quotient, params->multiplier, params->shift),
                             params->activation_min, params->activation_max);
  return (int8_t)(y + params->output_zero_point);
}

pl_status pl_div_s8(const pl_context *ctx, const pl_binary_params *params,
                    const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  pl_binary_params p = *params;
  p.activation_min -= p.output_zero_point;
  p.activation_max -= p.output_zero_point;
  return pl_elementwise_s8(&p, dims, data, divide);
}
