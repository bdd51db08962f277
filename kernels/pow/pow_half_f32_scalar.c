// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/sqrt_f32.h"
#include "kernels/pow/pow.h"

pl_status pl_pow_half_f32(const pl_context *ctx, const pl_pow_params *params,
                          const pl_pow_dims *dims, const pl_pow_data *data) {
  (void)ctx;
  for (int32_t i = 0; i < dims->size; ++i) {
    const float root = pl_sqrt_f32(data->input[i]);
    data->output[i] = params->exponent < 0.0f ? 1.0f / root : root;
  }
  return PL_OK;
}
