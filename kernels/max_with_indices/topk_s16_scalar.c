// SPDX-License-Identifier: Apache-2.0
#include "kernels/max_with_indices/max_with_indices.h"

// Insertion sort of each value into the best so far, kept in the output. For the smallest values,
// it takes the largest of their complements. The complements are int16 too.
static void topk(const pl_max_with_indices_params *params, const int16_t *x, int32_t size,
                 int32_t step, int16_t *values, int32_t *indices) {
  const int32_t k = params->k;
  const int32_t flip = params->largest ? 0 : -1;
  for (int32_t i = 0; i < size; ++i, x += step) {
    const int32_t value = *x ^ flip;
    int32_t place = i < k ? i : k;
    for (; place > 0 && value > (values[(place - 1) * step] ^ flip); --place) {
      if (place < k) {
        values[place * step] = values[(place - 1) * step];
        indices[place * step] = indices[(place - 1) * step];
      }
    }
    if (place < k) {
      values[place * step] = *x;
      indices[place * step] = i;
    }
  }
}

pl_status pl_topk_s16(const pl_context *ctx, const pl_max_with_indices_params *params,
                      const pl_max_with_indices_dims *dims, const pl_max_with_indices_data *data) {
  (void)ctx;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    const int16_t *block = (const int16_t *)data->input + outer * dims->size * dims->inner;
    const int32_t results = outer * params->k * dims->inner;
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      topk(params, block + inner, dims->size, dims->inner,
           (int16_t *)data->values + results + inner, data->indices + results + inner);
    }
  }
  return PL_OK;
}
