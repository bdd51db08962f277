// SPDX-License-Identifier: Apache-2.0
#include "kernels/dequantize/dequantize.h"

pl_status pl_dequantize_s8_f32(const pl_context *ctx, const pl_dequantize_params *params,
                               const pl_dequantize_dims *dims, const pl_dequantize_data *data) {
  (void)ctx;
  const float scale = params->scale;
  const int32_t zero_point = params->zero_point;
  const int8_t *input = data->input;
  float *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) {
    *output++ = (float)(*input++ - zero_point) * scale;
  }
  return PL_OK;
}
