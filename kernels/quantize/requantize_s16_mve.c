// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize_mve.h"
#include "kernels/quantize/requantize.h"

pl_status pl_requantize_s16(const pl_context *ctx, const pl_requantize_params *params,
                            const pl_requantize_dims *dims, const pl_requantize_data *data) {
  (void)ctx;
  const pl_factors_mve factors = pl_same_factors_mve(params->multiplier, params->shift);
  const pl_output_stage stage = {
      .zero_point = params->output_zero_point,
      .activation_min = INT16_MIN,
      .activation_max = INT16_MAX,
  };
  const int16_t *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const int32x4_t x = vldrhq_z_s32(input, lanes);
    vstrhq_p_s32(output, pl_narrow_mve(pl_requantize_mve(x, factors), &stage), lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
