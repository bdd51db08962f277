// SPDX-License-Identifier: Apache-2.0
#include "kernels/integer/integer.h"

pl_status pl_integer_to_float(const pl_context *ctx, const pl_integer_params *params,
                              const pl_integer_dims *dims, const pl_integer_data *data) {
  (void)ctx;
  (void)params;
  const int32_t size = dims->size[PL_BROADCAST_DIMS - 1];
  float *output = data->output;
  for (int32_t i = 0; i < size; ++i) output[i] = (float)data->a[i];
  return PL_OK;
}
