// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/cumsum_row.h"

pl_status pl_cumsum_s8(const pl_context *ctx, const pl_reduce_params *params,
                       const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_cumsum_rows(params, dims, data, pl_cumsum_row_s8);
}
