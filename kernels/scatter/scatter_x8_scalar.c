// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"
#include "kernels/scatter/scatter.h"

pl_status pl_scatter_x8(const pl_context *ctx, const pl_scatter_params *params,
                        const pl_scatter_dims *dims, const pl_scatter_data *data) {
  (void)ctx;
  (void)params;
  const int32_t width = dims->width;
  int8_t *output = data->output;
  if (data->base != data->output) pl_copy_bytes(output, data->base, dims->rows * width);
  const int8_t *values = data->values;
  for (int32_t i = 0; i < dims->count; ++i) {
    const int32_t index = data->indices[i];
    if (index < 0 || index >= dims->rows) return PL_ERROR_INDEX;
    pl_copy_bytes(output + index * width, values, width);
    values += width;
  }
  return PL_OK;
}
