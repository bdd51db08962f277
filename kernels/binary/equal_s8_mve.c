// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise_mve.h"

static inline mve_pred16_t is_equal(int16x8_t a, int16x8_t b) { return vcmpeqq_s16(a, b); }

pl_status pl_equal_s8(const pl_context *ctx, const pl_binary_params *params,
                      const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  return pl_compare_mve(dims, data, is_equal, params->negated);
}
