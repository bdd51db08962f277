// SPDX-License-Identifier: Apache-2.0
#include "kernels/binary/elementwise_mve.h"
#include "kernels/common/requantize_mve.h"

// Fraction bits of the quotient: the largest one, 255, still fits int32 with them.
#define FRACTION_BITS 23

// Helium does not divide: the core does, lane by lane. All around it is on vectors.
static inline uint32x4_t divide_lanes(uint32x4_t n, uint32x4_t d) {
  uint32_t quotient[4];
  uint32_t divisor[4];
  vst1q_u32(quotient, n);
  vst1q_u32(divisor, d);
  quotient[0] /= divisor[0];
  quotient[1] /= divisor[1];
  quotient[2] /= divisor[2];
  quotient[3] /= divisor[3];
  return vld1q_u32(quotient);
}

static inline int32x4_t divide(const pl_binary_params *params, int32x4_t a, int32x4_t b) {
  const pl_factors_mve factors = pl_same_factors_mve(params->multiplier, params->shift);
  const pl_output_stage stage = {
      .zero_point = params->output_zero_point,
      .activation_min = params->activation_min,
      .activation_max = params->activation_max,
  };
  const int32x4_t dividend = vsubq_n_s32(a, params->a_zero_point);
  const int32x4_t divisor = vsubq_n_s32(b, params->b_zero_point);
  const uint32x4_t n = vreinterpretq_u32_s32(vshlq_n_s32(vabsq_s32(dividend), FRACTION_BITS));
  const uint32x4_t d = vreinterpretq_u32_s32(vmaxq_s32(vabsq_s32(divisor), vdupq_n_s32(1)));
  const uint32x4_t magnitude = divide_lanes(vaddq_u32(n, vshrq_n_u32(d, 1)), d);
  const int32x4_t sign = vshrq_n_s32(veorq_s32(dividend, divisor), 31);
  const int32x4_t quotient = vsubq_s32(veorq_s32(vreinterpretq_s32_u32(magnitude), sign), sign);
  const int32x4_t y = pl_narrow_mve(pl_requantize_mve(quotient, factors), &stage);
  // For division by zero; 0 / 0 is computed as 0 / 1.
  const int32x4_t limit =
      vpselq_s32(vdupq_n_s32(params->activation_min), vdupq_n_s32(params->activation_max),
                 vcmpltq_n_s32(dividend, 0));
  return vpselq_s32(limit, y, vcmpeqq_m_n_s32(divisor, 0, vcmpneq_n_s32(dividend, 0)));
}

pl_status pl_div_s8(const pl_context *ctx, const pl_binary_params *params,
                    const pl_binary_dims *dims, const pl_binary_data *data) {
  (void)ctx;
  const pl_binary_params p = *params;
  return pl_elementwise_wide_mve(&p, dims, data, divide);
}
