// SPDX-License-Identifier: Apache-2.0
#include "kernels/lut/lut_s16.h"

#define STEP_BITS 7

pl_status pl_lut_s16(const pl_context *ctx, const pl_lut_s16_params *params,
                     const pl_lut_s16_dims *dims, const pl_lut_s16_data *data) {
  (void)ctx;
  (void)params;
  const int16_t *middle = data->table + (1 << (15 - STEP_BITS));
  const int16_t *input = data->input;
  int16_t *output = data->output;
  for (int32_t left = dims->size; left > 0; --left) {
    const int32_t x = *input++;
    const int16_t *entry = middle + (x >> STEP_BITS);
    const int32_t rise = (entry[1] - entry[0]) * (x & ((1 << STEP_BITS) - 1));
    *output++ = (int16_t)(entry[0] + ((rise + (1 << (STEP_BITS - 1))) >> STEP_BITS));
  }
  return PL_OK;
}
