// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"
#include "kernels/common/wide.h"

static inline int16_t prelu(const pl_binary_params *params, const int32_t *factors, int32_t a,
                            int32_t b) {
  (void)factors;
  const int64_t product = pl_product_64(a, a > 0 ? params->one : b);
  return pl_wide_narrow(product, params->multiplier, params->shift, params->activation_min,
                        params->activation_max);
}

pl_status pl_prelu_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                       const pl_binary_s16_dims *dims, const pl_binary_s16_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_s16(&p, dims, data, 2, prelu);
}
