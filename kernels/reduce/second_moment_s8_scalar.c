// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/second_moment.h"

#include "kernels/common/requantize.h"
#include "kernels/reduce/fold.h"

static inline int32_t second_moment(const pl_reduce_params *params, const pl_reduce_dims *dims,
                                    const int32_t *exp_table, const void *x) {
  (void)exp_table;
  pl_moment_sums s = {params->input_zero_point, 0, 0};
  pl_fold_s8(dims, x, &s, pl_add_to_moment);
  const int32_t value = (int32_t)pl_second_moment(params, &s);
  return pl_narrow(pl_requantize(value, params->multiplier, params->shift),
                   params->output_zero_point, INT8_MIN, INT8_MAX);
}

pl_status pl_second_moment_s8(const pl_context *ctx, const pl_reduce_params *params,
                              const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s8(params, dims, data, second_moment);
}
