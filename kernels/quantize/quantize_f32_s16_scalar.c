// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/quantize_f32.h"
#include "kernels/quantize/quantize_s16.h"

pl_status pl_quantize_f32_s16(const pl_context *ctx, const pl_quantize_s16_params *params,
                              const pl_quantize_s16_dims *dims, const pl_quantize_s16_data *data) {
  (void)ctx;
  const float inverse_scale = params->inverse_scale;
  const float *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) {
    *output++ = pl_quantize_value_s16(*input++, inverse_scale);
  }
  return PL_OK;
}
