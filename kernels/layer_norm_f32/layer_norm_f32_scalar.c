// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exact_floats.h"

#include "kernels/layer_norm_f32/layer_norm_f32.h"

#include "kernels/common/moments_f32.h"

pl_status pl_layer_norm_f32(const pl_context *ctx, const pl_layer_norm_f32_params *params,
                            const pl_layer_norm_f32_dims *dims,
                            const pl_layer_norm_f32_data *data) {
  (void)ctx;
  const float *x = data->input;
  float *output = data->output;
  for (int32_t row = 0; row < dims->rows; ++row) {
    const pl_moments moments = pl_moments_f32(x, dims->size, params->epsilon);
    for (int32_t i = 0; i < dims->size; ++i) {
      const float weight = data->weight ? data->weight[i] : 1.0f;
      const float bias = data->bias ? data->bias[i] : 0.0f;
      *output++ = (*x++ - moments.mean) * moments.rstd * weight + bias;
    }
    data->mean[row] = moments.mean;
    data->rstd[row] = moments.rstd;
  }
  return PL_OK;
}
