// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/quantize.h"
#include "kernels/quantize/quantize_f32.h"

pl_status pl_quantize_f32_s8(const pl_context *ctx, const pl_quantize_params *params,
                             const pl_quantize_dims *dims, const pl_quantize_data *data) {
  (void)ctx;
  const float inverse_scale = params->inverse_scale;
  const int32_t zero_point = params->zero_point;
  const float *input = data->input;
  int8_t *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) {
    *output++ = pl_quantize_value_s8(*input++, inverse_scale, zero_point);
  }
  return PL_OK;
}
