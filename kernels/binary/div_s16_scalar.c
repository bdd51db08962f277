// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"
#include "kernels/common/wide.h"

static inline uint32_t magnitude(int32_t x) { return (uint32_t)(x < 0 ? -x : x); }

static inline int16_t divide(const pl_binary_params *params, const int32_t *factors, int32_t a,
                             int32_t b) {
  (void)factors;
  if (b == 0 && a != 0) return (int16_t)(a < 0 ? params->activation_min : params->activation_max);
  const uint32_t d = b == 0 ? 1 : magnitude(b);
  // The integer part, and twice 15 fraction bits.
  const uint32_t n = magnitude(a);
  const uint32_t rest = n % d << 15;
  const uint32_t last = rest % d << 15;
  const int64_t quotient = (int64_t)(((uint64_t)(n / d) << 30) + (rest / d << 15) + last / d) +
                           (last % d * 2 >= d ? 1 : 0);
  return pl_wide_narrow((a < 0) != (b < 0) ? -quotient : quotient, params->multiplier,
                        params->shift, params->activation_min, params->activation_max);
}

pl_status pl_div_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                     const pl_binary_s16_dims *dims, const pl_binary_s16_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_s16(&p, dims, data, 2, divide);
}
