// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exact_floats.h"

#include "kernels/bmm_f32/bmm_f32.h"

pl_status pl_bmm_f32(const pl_context *ctx, const pl_bmm_f32_params *params,
                     const pl_bmm_f32_dims *dims, const pl_bmm_f32_data *data) {
  (void)ctx;
  (void)params;
  const float *a = data->a;
  const float *b = data->b;
  float *output = data->output;
  for (int32_t batch = 0; batch < dims->batches; ++batch) {
    for (int32_t row = 0; row < dims->rows; ++row) {
      for (int32_t column = 0; column < dims->columns; ++column) {
        const float *down = b + column;
        float sum = 0.0f;
        for (int32_t k = 0; k < dims->depth; ++k, down += dims->columns) sum += a[k] * *down;
        *output++ = sum;
      }
      a += dims->depth;
    }
    b += dims->depth * dims->columns;
  }
  return PL_OK;
}
