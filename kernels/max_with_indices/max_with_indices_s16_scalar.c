// SPDX-License-Identifier: Apache-2.0
#include "kernels/max_with_indices/max_with_indices.h"

pl_status pl_max_with_indices_s16(const pl_context *ctx, const pl_max_with_indices_params *params,
                                  const pl_max_with_indices_dims *dims,
                                  const pl_max_with_indices_data *data) {
  (void)ctx;
  (void)params;
  int16_t *values = data->values;
  int32_t *indices = data->indices;
  for (int32_t outer = 0; outer < dims->outer; ++outer) {
    const int16_t *block = (const int16_t *)data->input + outer * dims->size * dims->inner;
    for (int32_t inner = 0; inner < dims->inner; ++inner) {
      const int16_t *x = block + inner;
      int32_t largest = *x;
      int32_t index = 0;
      for (int32_t i = 1; i < dims->size; ++i) {
        x += dims->inner;
        if (*x > largest) {
          largest = *x;
          index = i;
        }
      }
      *values++ = (int16_t)largest;
      *indices++ = index;
    }
  }
  return PL_OK;
}
