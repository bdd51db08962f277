// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce_f32/fold.h"

static inline float smaller(float result, float value) {
  return result < value || result != result ? result : value;
}

pl_status pl_amin_f32(const pl_context *ctx, const pl_reduce_f32_params *params,
                      const pl_reduce_f32_dims *dims, const pl_reduce_f32_data *data) {
  (void)ctx;
  (void)params;
  return pl_fold_f32(dims, data, __builtin_inff(), smaller);
}
