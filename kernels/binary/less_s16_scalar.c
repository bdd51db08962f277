// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"

static inline int16_t is_less(const pl_binary_params *params, const int32_t *factors, int32_t a,
                              int32_t b) {
  (void)params;
  return (int16_t)((int64_t)a * factors[0] < (int64_t)b * factors[1]);
}

pl_status pl_less_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                      const pl_binary_s16_dims *dims, const pl_binary_s16_data *data) {
  (void)ctx;
  return pl_elementwise_s16(params, dims, data, 1, is_less);
}
