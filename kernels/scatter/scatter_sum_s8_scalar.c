// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/scatter/scatter.h"

pl_status pl_scatter_sum_s8(const pl_context *ctx, const pl_scatter_params *params,
                            const pl_scatter_dims *dims, const pl_scatter_data *data) {
  const pl_scatter_params p = *params;
  const int32_t width = dims->width;
  const int32_t size = dims->rows * width;
  if (ctx->scratch_size < (uint32_t)size * sizeof(int32_t)) return PL_ERROR_SCRATCH_SIZE;
  int32_t *sums = ctx->scratch;
  for (int32_t i = 0; i < size; ++i) sums[i] = 0;
  const int8_t *values = data->values;
  for (int32_t i = 0; i < dims->count; ++i) {
    const int32_t index = data->indices[i];
    if (index < 0 || index >= dims->rows) return PL_ERROR_INDEX;
    int32_t *sum = sums + index * width;
    for (int32_t k = 0; k < width; ++k) sum[k] += *values++ - p.input_zero_point;
  }
  int8_t *output = data->output;
  for (int32_t i = 0; i < size; ++i) {
    output[i] = pl_narrow(pl_requantize(sums[i], p.multiplier, p.shift), p.output_zero_point,
                          INT8_MIN, INT8_MAX);
  }
  return PL_OK;
}
