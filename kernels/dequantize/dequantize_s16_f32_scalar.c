// SPDX-License-Identifier: Apache-2.0
#include "kernels/dequantize/dequantize_s16.h"

pl_status pl_dequantize_s16_f32(const pl_context *ctx, const pl_dequantize_s16_params *params,
                                const pl_dequantize_s16_dims *dims,
                                const pl_dequantize_s16_data *data) {
  (void)ctx;
  const float scale = params->scale;
  const int16_t *input = data->input;
  float *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) *output++ = (float)*input++ * scale;
  return PL_OK;
}
