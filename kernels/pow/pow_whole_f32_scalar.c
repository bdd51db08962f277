// SPDX-License-Identifier: Apache-2.0
#include "kernels/pow/pow.h"

pl_status pl_pow_whole_f32(const pl_context *ctx, const pl_pow_params *params,
                           const pl_pow_dims *dims, const pl_pow_data *data) {
  (void)ctx;
  const int32_t exponent = (int32_t)params->exponent;
  const int32_t factors = exponent < 0 ? -exponent : exponent;
  for (int32_t i = 0; i < dims->size; ++i) {
    // The reciprocal first: the power of a large number would overflow.
    const float x = exponent < 0 ? 1.0f / data->input[i] : data->input[i];
    float product = x;
    for (int32_t factor = 1; factor < factors; ++factor) product *= x;
    data->output[i] = product;
  }
  return PL_OK;
}
