// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary_f32/elementwise.h"

static inline bool less(float a, float b) { return a < b; }

pl_status pl_less_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                      const pl_binary_f32_dims *dims, const pl_binary_f32_data *data) {
  (void)ctx;
  (void)params;
  return pl_compare_f32(dims, data, less);
}
