// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"
#include "kernels/common/requantize.h"

static inline int8_t prelu(const pl_binary_params *params, const int16_t *table, int32_t a,
                           int32_t b) {
  (void)table;
  const int32_t x = a - params->a_zero_point;
  const int32_t product = x * (x > 0 ? params->one : b);
  return pl_narrow(pl_requantize(product, params->multiplier, params->shift),
                   params->output_zero_point, params->activation_min, params->activation_max);
}

pl_status pl_prelu_s8(const pl_context *ctx, const pl_binary_params *params,
                      const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_s8(&p, dims, data, prelu);
}
