// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/logsumexp.h"

pl_status pl_logsumexp_s8(const pl_context *ctx, const pl_reduce_params *params,
                          const pl_reduce_dims *dims, const pl_reduce_data *data) {
  (void)ctx;
  return pl_reduce_s8(params, dims, data, pl_logsumexp_anyhow);
}
