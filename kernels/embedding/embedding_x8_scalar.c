// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/copy.h"
#include "kernels/embedding/embedding.h"

pl_status pl_embedding_x8(const pl_context *ctx, const pl_embedding_params *params,
                          const pl_embedding_dims *dims, const pl_embedding_data *data) {
  (void)ctx;
  (void)params;
  const int8_t *table = data->table;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->count; ++i) {
    const int32_t index = data->indices[i];
    if (index < 0 || index >= dims->rows) return PL_ERROR_INDEX;
    pl_copy_bytes(output, table + index * dims->width, dims->width);
    output += dims->width;
  }
  return PL_OK;
}
