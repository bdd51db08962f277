// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantize/quantize_f32.h"
#include "kernels/quantize/quantize_mve.h"
#include "kernels/quantize/quantize_s16.h"

pl_status pl_quantize_f32_s16(const pl_context *ctx, const pl_quantize_s16_params *params,
                              const pl_quantize_s16_dims *dims, const pl_quantize_s16_data *data) {
  (void)ctx;
  const float inverse_scale = params->inverse_scale;
  const float *input = data->input;
  int16_t *output = data->output;
  int32_t left = dims->size;
  if (!pl_is_exact_mve(inverse_scale)) {
    for (; left > 0; --left) *output++ = pl_quantize_value_s16(*input++, inverse_scale);
    return PL_OK;
  }
  for (; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const int32x4_t y = pl_scale_mve_f32(input, inverse_scale, lanes);
    const int32x4_t bounded =
        vminq_s32(vmaxq_s32(y, vdupq_n_s32(INT16_MIN)), vdupq_n_s32(INT16_MAX));
    vstrhq_p_s32(output, bounded, lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
