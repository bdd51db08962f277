// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear/blocks_mve.h"

pl_status pl_linear_last_blocks_s8(const pl_context *ctx, const pl_linear_params *params,
                                   const pl_linear_dims *dims, const pl_linear_data *data) {
  (void)ctx;
  return pl_linear_by_blocks(params, dims, data, pl_multiply_last_blocks_s8);
}
