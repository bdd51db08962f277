// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize_mve.h"
#include "kernels/integer/integer.h"

pl_status pl_integer_quantize(const pl_context *ctx, const pl_integer_params *params,
                              const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  const pl_factors_mve factors = pl_same_factors_mve(params->multiplier, params->shift);
  const pl_output_stage stage = {
      .zero_point = params->output_zero_point,
      .activation_min = INT8_MIN,
      .activation_max = INT8_MAX,
  };
  const int32_t *input = data->a;
  int8_t *output = data->output;
  for (int32_t left = dims->size[PL_BROADCAST_DIMS - 1]; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const int32x4_t x = pl_requantize_mve(vldrwq_z_s32(input, lanes), factors);
    vstrbq_p_s32(output, pl_narrow_mve(x, &stage), lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
