// SPDX-License-Identifier: Apache-2.0
#include "kernels/conv2d/blocks_mve.h"

pl_status pl_conv2d_last_blocks_s8(const pl_context *ctx, const pl_conv2d_params *params,
                                   const pl_conv2d_dims *dims, const pl_conv2d_data *data) {
  return pl_conv2d_by_blocks(ctx, params, dims, data, pl_multiply_last_blocks_s8);
}
