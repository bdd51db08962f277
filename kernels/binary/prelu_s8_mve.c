// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise_mve.h"
#include "kernels/common/requantize_mve.h"

static inline int32x4_t prelu(const pl_binary_params *params, int32x4_t a, int32x4_t b) {
  const pl_factors_mve factors = pl_same_factors_mve(params->multiplier, params->shift);
  const pl_output_stage stage = {
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  const int32x4_t x = vsubq_n_s32(a, params->a_zero_point);
  const int32x4_t slope = vpselq_s32(vdupq_n_s32(params->one), b, vcmpgtq_n_s32(x, 0));
  return pl_narrow_mve(pl_requantize_mve(vmulq_s32(x, slope), factors), &stage);
}

pl_status pl_prelu_s8(const pl_context *ctx, const pl_binary_params *params,
                      const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_wide_mve(&p, dims, data, prelu);
}
