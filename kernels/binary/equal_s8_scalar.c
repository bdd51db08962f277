// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise.h"

static inline int8_t is_equal(const pl_binary_params *params, const int16_t *table, int32_t a,
                              int32_t b) {
  return (int8_t)((a == table[b + 128]) != params->negated);
}

pl_status pl_equal_s8(const pl_context *ctx, const pl_binary_params *params,
                      const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_s8(&p, dims, data, is_equal);
}
