// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce_f32/fold.h"

static inline float add(float result, float value) { return result + value; }

pl_status pl_sum_f32(const pl_context *ctx, const pl_reduce_f32_params *params,
                     const pl_reduce_f32_dims *dims, const pl_reduce_f32_data *data) {
  (void)ctx;
  (void)params;
  return pl_fold_f32(dims, data, 0.0f, add);
}
