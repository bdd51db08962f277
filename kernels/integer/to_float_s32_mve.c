// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/integer/integer.h"

pl_status pl_integer_to_float(const pl_context *ctx, const pl_integer_params *params,
                              const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  (void)params;
  const int32_t *input = data->a;
  float *output = data->output;
  for (int32_t left = dims->size[PL_BROADCAST_DIMS - 1]; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    vstrwq_p_f32(output, vcvtq_f32_s32(vldrwq_z_s32(input, lanes)), lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
