// SPDX-License-Identifier: Apache-2.0
#include "kernels/cat/cat.h"

#include "kernels/common/copy.h"

pl_status pl_cat_x8(const pl_context *ctx, const pl_cat_params *params, const pl_cat_dims *dims,
                    const pl_cat_data *data) {
  (void)ctx;
  (void)params;
  int8_t *start = data->output;
  for (int32_t i = 0; i < dims->inputs; ++i) {
    const int32_t bytes = data->inputs[i].bytes;
    const int8_t *from = data->inputs[i].address;
    int8_t *to = start;
    for (int32_t outer = dims->outer; outer > 0; --outer) {
      pl_copy_bytes(to, from, bytes);
      from += bytes;
      to += dims->output_step;
    }
    start += bytes;
  }
  return PL_OK;
}
