// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer/elementwise.h"

static inline int32_t both(int32_t a, int32_t b) { return a & b; }

pl_status pl_integer_and(const pl_context *ctx, const pl_integer_params *params,
                         const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  (void)params;
  return pl_integers(dims, data, both);
}
