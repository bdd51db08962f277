// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exponentials_mve.h"
#include "kernels/masked_softmax/masked_softmax.h"

pl_status pl_masked_softmax_s8(const pl_context *ctx, const pl_masked_softmax_params *params,
                               const pl_masked_softmax_dims *dims,
                               const pl_masked_softmax_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  pl_broadcast_row row = {0};
  do {
    const pl_row_mve values = {data->input + row.a, data->mask + row.b, dims->size, 1, true};
    pl_softmax_row_mve(values, data->exp_table, params->steps, output);
    output += dims->size;
  } while (pl_broadcast_next(&dims->rows, &row));
  return PL_OK;
}
