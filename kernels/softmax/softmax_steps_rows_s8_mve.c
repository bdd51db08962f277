// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_mve.h"
#include "kernels/softmax/softmax.h"

pl_status pl_softmax_steps_rows_s8(const pl_context *ctx, const pl_softmax_params *params,
                                   const pl_softmax_dims *dims, const pl_softmax_data *data) {
  (void)ctx;
  pl_softmax_rows_mve(dims->outer, dims->size, dims->inner, data->input, data->exp_table,
                      params->steps, data->output);
  return PL_OK;
}
