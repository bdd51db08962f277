// SPDX-License-Identifier: Apache-2.0
#include "kernels/roll/roll.h"

pl_status pl_roll_s8(const pl_context *ctx, const pl_roll_params *params, const pl_roll_dims *dims,
                     const pl_roll_data *data) {
  (void)ctx;
  (void)params;
  const int8_t *row = data->input;
  int8_t *output = data->output;
  for (int32_t o = 0; o < dims->outer; ++o, row += dims->size) {
    const int32_t first = dims->size - dims->shift;
    for (int32_t i = first; i < dims->size; ++i) *output++ = row[i];
    for (int32_t i = 0; i < first; ++i) *output++ = row[i];
  }
  return PL_OK;
}
