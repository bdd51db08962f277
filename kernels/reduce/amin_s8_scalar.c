// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/fold.h"

static inline void smaller(void *result, int32_t value) {
  int32_t *smallest = result;
  if (value < *smallest) *smallest = value;
}

static inline int32_t amin(const pl_reduce_params *params, const pl_reduce_dims *dims,
                           const int32_t *exp_table, const void *x) {
  (void)params;
  (void)exp_table;
  int32_t smallest = pl_load_s8(x);
  pl_fold_s8(dims, x, &smallest, smaller);
  return smallest;
}

pl_status pl_amin_s8(const pl_context *ctx, const pl_reduce_params *params,
                     const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s8(params, dims, data, amin);
}
