// SPDX-License-Identifier: Apache-2.0
#include <arm_mve.h>

#include "kernels/lut/lut.h"

#define LANES 16

// Sixteen values a gather; they are indices from the table's middle on, less 128 from its start.
pl_status pl_lut_s8(const pl_context *ctx, const pl_lut_params *params, const pl_lut_dims *dims,
                    const pl_lut_data *data) {
  (void)ctx;
  (void)params;
  const uint8x16_t sign = vdupq_n_u8(128);
  const int8_t *table = data->table;
  const int8_t *input = data->input;
  int8_t *output = data->output;
  for (int32_t left = dims->size; left > 0; left -= LANES) {
    const mve_pred16_t lanes = vctp8q((uint32_t)left);
    const uint8x16_t index = veorq_u8(vreinterpretq_u8_s8(vldrbq_z_s8(input, lanes)), sign);
    vstrbq_p_s8(output, vldrbq_gather_offset_z_s8(table, index, lanes), lanes);
    input += LANES;
    output += LANES;
  }
  return PL_OK;
}
