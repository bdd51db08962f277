// SPDX-License-Identifier: Apache-2.0
#include "kernels/gather/gather.h"

#include "kernels/common/copy.h"

pl_status pl_gather_x8(const pl_context *ctx, const pl_gather_params *params,
                       const pl_gather_dims *dims, const pl_gather_data *data) {
  (void)ctx;
  (void)params;
  const int32_t *const end = data->runs + 2 * dims->runs;
  const int8_t *part = data->input;
  int8_t *to = data->output;
  for (int32_t outer = 0; outer < dims->outer; ++outer, part += dims->outer_step) {
    for (int32_t row = 0; row < dims->rows; ++row) {
      const int8_t *from = part + data->rows[row];
      for (const int32_t *run = data->runs; run != end; run += 2) {
        pl_copy_bytes(to, from + run[0], run[1]);
        to += run[1];
      }
    }
  }
  return PL_OK;
}
