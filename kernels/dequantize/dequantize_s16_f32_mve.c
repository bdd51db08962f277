// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/float_bits.h"
#include "kernels/dequantize/dequantize_s16.h"

pl_status pl_dequantize_s16_f32(const pl_context *ctx, const pl_dequantize_s16_params *params,
                                const pl_dequantize_s16_dims *dims,
                                const pl_dequantize_s16_data *data) {
  (void)ctx;
  const float scale = params->scale;
  const int16_t *input = data->input;
  float *output = data->output;
  int32_t left = dims->size;
  // Float vectors treat values below 2^-126 as 0. Products are never smaller than the scale.
  if (pl_float_bits(scale) < 0x00800000u) {
    for (; left > 0; --left) *output++ = (float)*input++ * scale;
    return PL_OK;
  }
  for (; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const float32x4_t x = vcvtq_x_f32_s32(vldrhq_z_s32(input, lanes), lanes);
    vstrwq_p_f32(output, vmulq_x_n_f32(x, scale, lanes), lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
