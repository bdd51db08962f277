// SPDX-License-Identifier: Apache-2.0
#include <stdbool.h>

#include "kernels/max_with_indices/max_with_indices.h"

// NaN is larger than every number.
static inline bool larger(float a, float b) { return a > b || (a != a && b == b); }

pl_status pl_max_with_indices_f32(const pl_context *ctx, const pl_max_with_indices_params *params,
                                  const pl_max_with_indices_dims *dims,
                                  const pl_max_with_indices_data *data) {
  (void)ctx;
  (void)params;
  float *values = data->values;
  int32_t *indices = data->indices;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    const float *block = (const float *)data->input + outer * dims->size * dims->inner;
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const float *x = block + inner;
      float largest = *x;
      int32_t index = 0;
      for (int32_t i = 1; i < dims->size; ++i) {
        x += dims->inner;
        if (larger(*x, largest)) {
          largest = *x;
          index = i;
        }
      }
      *values++ = largest;
      *indices++ = index;
    }
  }
  return PL_OK;
}
