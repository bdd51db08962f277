// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"

static inline int8_t smaller(const pl_binary_params *params, const int16_t *table, int32_t a,
                             int32_t b) {
  (void)params;
  (void)table;
  return (int8_t)(a < b ? a : b);
}

pl_status pl_minimum_s8(const pl_context *ctx, const pl_binary_params *params,
                        const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  return pl_elementwise_s8(params, dims, data, smaller);
}
