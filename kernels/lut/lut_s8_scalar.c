// SPDX-License-Identifier: Apache-2.0
#include "kernels/lut/lut.h"

pl_status pl_lut_s8(const pl_context *ctx, const pl_lut_params *params, const pl_lut_dims *dims,
                    const pl_lut_data *data) {
  (void)ctx;
  (void)params;
  const int8_t *middle = data->table + 128;
  const int8_t *input = data->input;
  int8_t *output = data->output;
  int32_t left = dims->size;
  for (; left >= 4; left -= 4, input += 4, output += 4) {
    output[0] = middle[input[0]];
    output[1] = middle[input[1]];
    output[2] = middle[input[2]];
    output[3] = middle[input[3]];
  }
  for (; left > 0; --left) *output++ = middle[*input++];
  return PL_OK;
}
