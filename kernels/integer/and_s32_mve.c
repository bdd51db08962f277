// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer/elementwise_mve.h"

static inline int32x4_t both(int32x4_t a, int32x4_t b) { return vandq_s32(a, b); }

pl_status pl_integer_and(const pl_context *ctx, const pl_integer_params *params,
                         const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  (void)params;
  return pl_integers_mve(dims, data, both);
}
