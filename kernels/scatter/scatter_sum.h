// SPDX-License-Identifier: Apache-2.0
// The loops of sums of quantized rows.
#ifndef KERNELS_SCATTER_SCATTER_SUM_H_
#define KERNELS_SCATTER_SCATTER_SUM_H_

#include "kernels/scatter/scatter.h"

// The element at an index comes from `load`; `store` writes the result of a sum. Both are constants
// in the inlined code.
PL_INLINE pl_status pl_scatter_sums(const pl_context *ctx, const pl_scatter_params *params,
                                    const pl_scatter_dims *dims, const pl_scatter_data *data,
                                    int32_t (*load)(const void *values, int32_t index),
                                    void (*store)(const pl_scatter_params *params, int32_t sum,
                                                  int32_t index, void *output)) {
  const pl_scatter_params p = *params;
  const int32_t width = dims->width;
  const int32_t size = dims->rows * width;
  if (ctx->scratch_size < (uint32_t)size * sizeof(int32_t)) return PL_ERROR_SCRATCH_SIZE;
  int32_t *sums = ctx->scratch;
  for (int32_t i = 0; i < size; ++i) sums[i] = 0;
  int32_t at = 0;
  for (int32_t i = 0; i < dims->count; ++i) {
    const int32_t index = data->indices[i];
    if (index < 0 || index >= dims->rows) return PL_ERROR_INDEX;
    int32_t *sum = sums + index * width;
    for (int32_t k = 0; k < width; ++k) sum[k] += load(data->values, at++) - p.input_zero_point;
  }
  for (int32_t i = 0; i < size; ++i) store(&p, sums[i], i, data->output);
  return PL_OK;
}

#endif  // KERNELS_SCATTER_SCATTER_SUM_H_
