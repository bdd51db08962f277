// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"

static inline int16_t larger(const pl_binary_params *params, const int32_t *factors, int32_t a,
                             int32_t b) {
  (void)params;
  (void)factors;
  return (int16_t)(a > b ? a : b);
}

pl_status pl_maximum_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                         const pl_binary_s16_dims *dims, const pl_binary_s16_data *data) {
  (void)ctx;
  return pl_elementwise_s16(params, dims, data, 2, larger);
}
