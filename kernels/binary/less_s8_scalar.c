// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"

static inline int8_t is_less(const pl_binary_params *params, const int16_t *table, int32_t a,
                             int32_t b) {
  (void)params;
  return (int8_t)(a < table[b + 128]);
}

pl_status pl_less_s8(const pl_context *ctx, const pl_binary_params *params,
                     const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  return pl_elementwise_s8(params, dims, data, is_less);
}
