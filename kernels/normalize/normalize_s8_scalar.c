// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/product_high.h"
#include "kernels/common/requantize.h"
#include "kernels/normalize/factors.h"

static pl_moments moments_of(const pl_normalize_dims *dims, const int8_t *x) {
  pl_moments m = {0, 0};
  const int32_t step = dims->value_stride[2];
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      const int8_t *at = x + i * dims->value_stride[0] + j * dims->value_stride[1];
      for (int32_t left = dims->values[2]; left > 0; --left, at += step) {
        const int32_t value = *at;
        m.sum += value;
        m.squares += (uint32_t)(value * value);
      }
    }
  }
  return m;
}

static void normalize_part(const pl_normalize_params *params, const pl_normalize_dims *dims,
                           const int8_t *x, const int32_t *affine, int8_t *output) {
  const pl_norm_factors f = pl_norm_factors_of(params, dims->count, moments_of(dims, x));
  const int32_t step = dims->value_stride[2];
  const int32_t channel_step = 2 * dims->value_channels[2];
  const int32_t bits = params->output_bits;
  const int32_t minimum = params->activation_min;
  const int32_t maximum = params->activation_max;
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      int32_t at = i * dims->value_stride[0] + j * dims->value_stride[1];
      const int32_t channel = i * dims->value_channels[0] + j * dims->value_channels[1];
      const int32_t *a = affine + 2 * channel;
      for (int32_t left = dims->values[2]; left > 0; --left, at += step, a += channel_step) {
        const int32_t value = x[at];
        const int32_t normalized = (int32_t)(f.scale * (uint32_t)value - f.offset);
        const int32_t scaled = pl_product_high(normalized, a[0]) >> f.shift;
        output[at] = (int8_t)pl_clamp((scaled + a[1]) >> bits, minimum, maximum);
      }
    }
  }
}

pl_status pl_normalize_s8(const pl_context *ctx, const pl_normalize_params *params,
                          const pl_normalize_dims *dims, const pl_normalize_data *data) {
  (void)ctx;
  return pl_normalize_parts(params, dims, data, normalize_part);
}
