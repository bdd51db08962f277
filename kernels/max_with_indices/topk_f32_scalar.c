// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "kernels/max_with_indices/max_with_indices.h"

// NaN is larger than every number.
static inline bool larger(float a, float b) { return a > b || (a != a && b == b); }

// Insertion sort of each value into the best so far, kept in the output.
static void topk(const pl_max_with_indices_params *params, const float *x, int32_t size,
                 int32_t step, float *values, int32_t *indices) {
  const int32_t k = params->k;
  for (int32_t i = 0; i < size; ++i, x += step) {
    int32_t place = i < k ? i : k;
    for (; place > 0; --place) {
      const float before = values[(place - 1) * step];
      if (!(params->largest ? larger(*x, before) : larger(before, *x))) break;
      if (place < k) {
        values[place * step] = before;
        indices[place * step] = indices[(place - 1) * step];
      }
    }
    if (place < k) {
      values[place * step] = *x;
      indices[place * step] = i;
    }
  }
}

pl_status pl_topk_f32(const pl_context *ctx, const pl_max_with_indices_params *params,
                      const pl_max_with_indices_dims *dims, const pl_max_with_indices_data *data) {
  (void)ctx;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    const float *block = (const float *)data->input + outer * dims->size * dims->inner;
    const int32_t results = outer * params->k * dims->inner;
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      topk(params, block + inner, dims->size, dims->inner, (float *)data->values + results + inner,
           data->indices + results + inner);
    }
  }
  return PL_OK;
}
