// SPDX-License-Identifier: Apache-2.0
// Four values at a time, in any layout. Sums of a contiguous row take sixteen at a time.
#include <arm_mve.h>

#include "kernels/normalize/factors.h"

static inline uint32x4_t offsets_of(int32_t step) {
  return vmulq_n_u32(vidupq_n_u32(0, 1), (uint32_t)step);
}

static pl_moments moments_of(const pl_normalize_dims *dims, const int8_t *x) {
  pl_moments m = {0, 0};
  const int32_t step = dims->value_stride[2];
  const uint32x4_t offsets = offsets_of(step);
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      const int8_t *at = x + i * dims->value_stride[0] + j * dims->value_stride[1];
      int32_t sum = m.sum;
      uint32_t squares = m.squares;
      if (step == 1) {
        for (int32_t left = dims->values[2]; left > 0; left -= 16) {
          const mve_pred16_t lanes = vctp8q((uint32_t)left);
          const int8x16_t values = vldrbq_z_s8(at, lanes);
          sum = vaddvaq_p_s8(sum, values, lanes);
          squares = (uint32_t)vmladavaq_p_s8((int32_t)squares, values, values, lanes);
          at += 16;
        }
      } else {
        for (int32_t left = dims->values[2]; left > 0; left -= 4) {
          const mve_pred16_t lanes = vctp32q((uint32_t)left);
          const int32x4_t values = vldrbq_gather_offset_z_s32(at, offsets, lanes);
          sum = vaddvaq_p_s32(sum, values, lanes);
          squares = (uint32_t)vmladavaq_p_s32((int32_t)squares, values, values, lanes);
          at += 4 * step;
        }
      }
      m = (pl_moments){sum, squares};
    }
  }
  return m;
}

static void normalize_part(const pl_normalize_params *params, const pl_normalize_dims *dims,
                           const int8_t *x, const int32_t *affine, int8_t *output) {
  const pl_norm_factors f = pl_norm_factors_of(params, dims->count, moments_of(dims, x));
  const int32_t step = dims->value_stride[2];
  const int32_t channel_step = 2 * dims->value_channels[2];
  const uint32x4_t offsets = offsets_of(step);
  const uint32x4_t channels = offsets_of(channel_step);
  const int32x4_t offset = vdupq_n_s32((int32_t)(0U - f.offset));
  const int32_t shift = -f.shift;
  const int32_t bits = -params->output_bits;
  const int32x4_t minimum = vdupq_n_s32(params->activation_min);
  const int32x4_t maximum = vdupq_n_s32(params->activation_max);
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      const int32_t start = i * dims->value_stride[0] + j * dims->value_stride[1];
      const int32_t channel = i * dims->value_channels[0] + j * dims->value_channels[1];
      const int8_t *at = x + start;
      const int32_t *a = affine + 2 * channel;
      int8_t *y = output + start;
      for (int32_t left = dims->values[2]; left > 0; left -= 4) {
        const mve_pred16_t lanes = vctp32q((uint32_t)left);
        const int32x4_t values = vldrbq_gather_offset_z_s32(at, offsets, lanes);
        const int32x4_t normalized = vmlaq_n_s32(offset, values, (int32_t)f.scale);
        const int32x4_t weight = vldrwq_gather_shifted_offset_z_s32(a, channels, lanes);
        const int32x4_t bias = vldrwq_gather_shifted_offset_z_s32(a + 1, channels, lanes);
        const int32x4_t scaled = vshlq_r_s32(vmulhq_s32(normalized, weight), shift);
        const int32x4_t value = vshlq_r_s32(vaddq_s32(scaled, bias), bits);
        const int32x4_t clamped = vminq_s32(vmaxq_s32(value, minimum), maximum);
        vstrbq_scatter_offset_p_s32(y, offsets, clamped, lanes);
        at += 4 * step;
        a += 4 * channel_step;
        y += 4 * step;
      }
    }
  }
}

pl_status pl_normalize_s8(const pl_context *ctx, const pl_normalize_params *params,
                          const pl_normalize_dims *dims, const pl_normalize_data *data) {
  (void)ctx;
  return pl_normalize_parts(params, dims, data, normalize_part);
}
