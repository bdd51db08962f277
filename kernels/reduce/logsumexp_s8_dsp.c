// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "kernels/common/exponentials_dsp.h"
#include "kernels/reduce/logsumexp.h"

// For contiguous values.
static inline int32_t of_row(const pl_reduce_params *params, const pl_reduce_dims *dims,
                             const int32_t *exp_table, const void *x) {
  const int32_t size = dims->reduced[2];
  const int32_t maximum = pl_maximum_of(x, size, 1);
  return pl_logsumexp_of(params, maximum, pl_exponentials_of(x, size, 1, exp_table, maximum));
}

pl_status pl_logsumexp_s8(const pl_context *ctx, const pl_reduce_params *params,
                          const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  const bool in_one_piece = dims->reduced[0] * dims->reduced[1] == 1;
  if (in_one_piece && dims->reduced_stride[2] == 1) {
    return pl_reduce_s8(params, dims, data, of_row);
  }
  return pl_reduce_s8(params, dims, data, pl_logsumexp_anyhow);
}
