// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary_f32/elementwise.h"

static inline float difference(float a, float b) { return a - b; }

pl_status pl_sub_f32(const pl_context *ctx, const pl_binary_f32_params *params,
                     const pl_binary_f32_dims *dims, const pl_binary_f32_data *data) {
  (void)ctx;
  (void)params;
  return pl_elementwise_f32(dims, data, difference);
}
