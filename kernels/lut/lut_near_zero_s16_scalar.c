// SPDX-License-Identifier: Apache-2.0
#include "kernels/lut/line_s16.h"
#include "kernels/lut/lut_near_zero_s16.h"

pl_status pl_lut_near_zero_s16(const pl_context *ctx, const pl_lut_near_zero_s16_params *params,
                               const pl_lut_near_zero_s16_dims *dims,
                               const pl_lut_near_zero_s16_data *data) {
  (void)ctx;
  (void)params;
  const int16_t *middle = data->table + PL_LUT_MIDDLE;
  const int16_t *zero = data->table + PL_LUT_ENTRIES + PL_LUT_NEAR_ZERO;
  const int16_t *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) {
    const int32_t x = *input++;
    *output++ =
        x >= -PL_LUT_NEAR_ZERO && x < PL_LUT_NEAR_ZERO ? zero[x] : pl_lut_line_s16(middle, x);
  }
  return PL_OK;
}
