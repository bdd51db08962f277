// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/common/float_bits.h"
#include "kernels/dequantize/dequantize.h"

pl_status pl_dequantize_s8_f32(const pl_context *ctx, const pl_dequantize_params *params,
                               const pl_dequantize_dims *dims, const pl_dequantize_data *data) {
  (void)ctx;
  const float scale = params->scale;
  const int32_t zero_point = params->zero_point;
  const int8_t *input = data->input;
  float *output = data->output;
  int32_t left = dims->size;
  // Float vectors treat values below 2^-126 as 0. Products are never smaller than the scale.
  if (pl_float_bits(scale) < 0x00800000u) {
    for (; left > 0; --left) *output++ = (float)(*input++ - zero_point) * scale;
    return PL_OK;
  }
  for (; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const int32x4_t x = vsubq_n_s32(vldrbq_z_s32(input, lanes), zero_point);
    vstrwq_p_f32(output, vmulq_x_n_f32(vcvtq_x_f32_s32(x, lanes), scale, lanes), lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
