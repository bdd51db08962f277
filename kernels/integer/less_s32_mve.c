// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer/elementwise_mve.h"

static inline mve_pred16_t less(int32x4_t a, int32x4_t b) { return vcmpltq_s32(a, b); }

pl_status pl_integer_less(const pl_context *ctx, const pl_integer_params *params,
                          const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  (void)params;
  return pl_integer_mask_mve(dims, data, less);
}
