// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise_mve.h"

static inline int8x16_t larger(int8x16_t a, int8x16_t b) { return vmaxq_s8(a, b); }

pl_status pl_maximum_s8(const pl_context *ctx, const pl_binary_params *params,
                        const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  (void)params;
  return pl_elementwise_mve(dims, data, larger);
}
