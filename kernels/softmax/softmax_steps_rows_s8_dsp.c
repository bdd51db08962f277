// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_dsp.h"
#include "kernels/softmax/softmax.h"

pl_status pl_softmax_steps_rows_s8(const pl_context *ctx, const pl_softmax_params *params,
                                   const pl_softmax_dims *dims, const pl_softmax_data *data) {
  (void)ctx;
  const int32_t block = dims->size * dims->inner;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const int32_t start = outer * block + inner;
      pl_softmax_row_dsp(data->input + start, dims->size, dims->inner, data->exp_table,
                         params->steps, data->output + start);
    }
  }
  return PL_OK;
}
