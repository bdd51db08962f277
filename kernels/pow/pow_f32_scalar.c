// SPDX-License-Identifier: Apache-2.0
#include <math.h>

#include "kernels/pow/pow.h"

pl_status pl_pow_f32(const pl_context *ctx, const pl_pow_params *params, const pl_pow_dims *dims,
                     const pl_pow_data *data) {
  (void)ctx;
  const float exponent = params->exponent;
  for (int32_t i = 0; i < dims->size; ++i) data->output[i] = powf(data->input[i], exponent);
  return PL_OK;
}
