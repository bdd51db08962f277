// SPDX-License-Identifier: Apache-2.0
#include "kernels/softmax/rows.h"

pl_status pl_softmax_steps_s8(const pl_context *ctx, const pl_softmax_params *params,
                              const pl_softmax_dims *dims, const pl_softmax_data *data) {
  (void)ctx;
  return pl_softmax_rows(params->steps, dims, data);
}
