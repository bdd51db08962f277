// SPDX-License-Identifier: Apache-2.0
#include "kernels/flip/flip.h"

pl_status pl_flip_x8(const pl_context *ctx, const pl_flip_params *params, const pl_flip_dims *dims,
                     const pl_flip_data *data) {
  (void)ctx;
  (void)params;
  int8_t *output = data->output;
  for (int32_t o = 0; o < dims->outer; ++o) {
    for (int32_t i = dims->size - 1; i >= 0; --i) {
      const int8_t *input = data->input + (o * dims->size + i) * dims->inner;
      for (int32_t n = 0; n < dims->inner; ++n) *output++ = input[n];
    }
  }
  return PL_OK;
}
