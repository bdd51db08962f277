// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/second_moment_s8.h"

static inline void run(const int8_t *x, int32_t count, int32_t *sum, int32_t *squares) {
  pl_moment_steps(x, 1, count, sum, squares);
}

static inline void row(const pl_reduce_params *params, const pl_reduce_dims *dims, const int8_t *x,
                       int8_t *output) {
  pl_moments_of_row(params, dims, x, output, run);
}

pl_status pl_second_moment_s8(const pl_context *ctx, const pl_reduce_params *params,
                              const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_moments(params, dims, data, row);
}
