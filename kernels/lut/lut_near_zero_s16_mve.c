// SPDX-License-Identifier: Apache-2.0
#include "kernels/lut/line_mve.h"
#include "kernels/lut/lut_near_zero_s16.h"

pl_status pl_lut_near_zero_s16(const pl_context *ctx, const pl_lut_near_zero_s16_params *params,
                               const pl_lut_near_zero_s16_dims *dims,
                               const pl_lut_near_zero_s16_data *data) {
  (void)ctx;
  (void)params;
  const int16_t *table = data->table;
  const int16_t *near_zero = table + PL_LUT_ENTRIES;
  const int16_t *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; left -= 4) {
    const mve_pred16_t lanes = vctp32q((uint32_t)left);
    const int32x4_t x = vldrhq_z_s32(input, lanes);
    const uint32x4_t index = vreinterpretq_u32_s32(vaddq_n_s32(x, PL_LUT_NEAR_ZERO));
    const mve_pred16_t is_near = vcmpcsq_u32(vdupq_n_u32(2 * PL_LUT_NEAR_ZERO - 1), index) & lanes;
    const int32x4_t own = vldrhq_gather_shifted_offset_z_s32(near_zero, index, is_near);
    vstrhq_p_s32(output, vpselq_s32(own, pl_lut_line_mve(table, x, lanes), is_near), lanes);
    input += 4;
    output += 4;
  }
  return PL_OK;
}
