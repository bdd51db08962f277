// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/extremes_dsp.h"

static inline int32_t of_rows(const pl_reduce_params *params, const pl_reduce_dims *dims,
                              const int32_t *exp_table, const void *x) {
  (void)params;
  (void)exp_table;
  return pl_extreme_of_rows(dims, x, pl_smaller_4_s8, pl_smaller);
}

pl_status pl_amin_s8(const pl_context *ctx, const pl_reduce_params *params,
                     const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  if (dims->reduced_stride[2] == 1) return pl_reduce_s8(params, dims, data, of_rows);
  if (dims->kept_stride[2] == 1)
    return pl_extremes_of_columns(dims, data, pl_smaller_4_s8, pl_smaller);
  return pl_reduce_s8(params, dims, data, pl_amin_of);
}
