// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/second_moment.h"

#include "kernels/common/wide.h"
#include "kernels/reduce/fold.h"

static inline void add(void *result, int32_t value) {
  pl_moment_sums *so_far = result;
  so_far->sum += value;
  so_far->squares += (uint32_t)(value * value);
}

static inline int32_t second_moment(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                    const int32_t *exp_table, const void *x) {
  (void)exp_table;
  pl_moment_sums s = {0, 0};
  pl_fold_s16(dims, x, &s, add);
  return pl_wide_narrow(pl_second_moment(params, &s), params->multiplier, params->shift, INT16_MIN,
                        INT16_MAX);
}

pl_status pl_second_moment_s16(const pl_context *ctx, const pl_reduce_params *params,
                               const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s16(params, dims, data, second_moment);
}
