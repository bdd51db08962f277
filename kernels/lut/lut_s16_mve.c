// SPDX-License-Identifier: Apache-2.0
#include "kernels/lut/line_mve.h"
#include "kernels/lut/lut_s16.h"

pl_status pl_lut_s16(const pl_context *ctx, const pl_lut_s16_params *params,
                     const pl_lut_s16_dims *dims, const pl_lut_s16_data *data) {
  (void)ctx;
  (void)params;
  const int16_t *table = data->table;
  const int16_t *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    vstrhq_p_s32(output, pl_lut_line_mve(table, vldrhq_z_s32(input, lanes), lanes), lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
