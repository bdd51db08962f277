// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise_mve.h"

static inline int16x8_t smaller(int16x8_t a, int16x8_t b) { return vminq_s16(a, b); }

pl_status pl_minimum_s16(const pl_context *ctx, const pl_binary_s16_params *params,
                         const pl_binary_s16_dims *dims, const pl_binary_s16_data *data) {
  (void)ctx;
  (void)params;
  return pl_elementwise_s16_mve(dims, data, smaller);
}
