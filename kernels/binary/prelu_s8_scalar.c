// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"
#include "kernels/common/narrow_down.h"

static inline int32_t multiply(const pl_binary_params *params, int32_t a, int32_t b) {
  const int32_t x = a - params->a_zero_point;
  return x * (x > 0 ? params->one : b);
}

static inline int8_t prelu(const pl_binary_params *params, const int16_t *table, int32_t a,
                           int32_t b) {
  (void)table;
  return pl_narrow(pl_requantize(multiply(params, a, b), params->multiplier, params->shift),
                   params->output_zero_point, params->activation_min, params->activation_max);
}

static inline int8_t prelu_down(const pl_binary_params *params, const int16_t *table, int32_t a,
                                int32_t b) {
  (void)table;
  return pl_narrow_down(multiply(params, a, b), params->multiplier, -params->shift - 1,
                        2 * params->output_zero_point + 1);
}

pl_status pl_prelu_s8(const pl_context *ctx, const pl_binary_params *params,
                      const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_s8(&p, dims, data, prelu);
}

pl_status pl_prelu_down_s8(const pl_context *ctx, const pl_binary_params *params,
                           const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_s8(&p, dims, data, prelu_down);
}
