// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/exact_floats.h"

#include "kernels/group_norm_f32/group_norm_f32.h"

#include "kernels/common/moments_f32.h"

pl_status pl_group_norm_f32(const pl_context *ctx, const pl_group_norm_f32_params *params,
                            const pl_group_norm_f32_dims *dims,
                            const pl_group_norm_f32_data *data) {
  (void)ctx;
  const int32_t size = dims->group_channels * dims->pixels;
  const float *x = data->input;
  float *output = data->output;
  for (int32_t row = 0; row < dims->batches * dims->groups; ++row) {
    const pl_moments moments = pl_moments_f32(x, size, params->epsilon);
    const int32_t first_channel = row % dims->groups * dims->group_channels;
    for (int32_t c = first_channel; c < first_channel + dims->group_channels; ++c) {
      const float weight = data->weight ? data->weight[c] : 1.0f;
      const float bias = data->bias ? data->bias[c] : 0.0f;
      for (int32_t pixel = 0; pixel < dims->pixels; ++pixel) {
        *output++ = (*x++ - moments.mean) * moments.rstd * weight + bias;
      }
    }
    data->mean[row] = moments.mean;
    data->rstd[row] = moments.rstd;
  }
  return PL_OK;
}
