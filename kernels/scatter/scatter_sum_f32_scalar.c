// SPDX-License-Identifier: Apache-2.0
#include "kernels/scatter/scatter.h"

pl_status pl_scatter_sum_f32(const pl_context *ctx, const pl_scatter_params *params,
                             const pl_scatter_dims *dims, const pl_scatter_data *data) {
  (void)ctx;
  (void)params;
  const int32_t width = dims->width;
  float *output = data->output;
  for (int32_t i = 0; i < dims->rows * width; ++i) output[i] = 0.0f;
  const float *values = data->values;
  for (int32_t i = 0; i < dims->count; ++i) {
    const int32_t index = data->indices[i];
    if (index < 0 || index >= dims->rows) return PL_ERROR_INDEX;
    float *sum = output + index * width;
    for (int32_t k = 0; k < width; ++k) sum[k] += *values++;
  }
  return PL_OK;
}
