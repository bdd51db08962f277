// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/fold.h"

static inline void larger(void *result, int32_t value) {
  int32_t *largest = result;
  if (value > *largest) *largest = value;
}

static inline int32_t amax(const pl_reduce_params *params, const pl_reduce_dims *dims,
                           const int32_t *exp_table, const void *x) {
  (void)params;
  (void)exp_table;
  int32_t largest = pl_load_s8(x);
  pl_fold_s8(dims, x, &largest, larger);
  return largest;
}

pl_status pl_amax_s8(const pl_context *ctx, const pl_reduce_params *params,
                     const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s8(params, dims, data, amax);
}
