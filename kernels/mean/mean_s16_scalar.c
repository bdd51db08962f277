// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/mean/mean_s16.h"

static int16_t mean(const pl_mean_params *params, const pl_mean_dims *dims, const int16_t *x) {
  int32_t sum = 0;
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int16_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += step) sum += *at;
    }
  }
  const int32_t value = pl_requantize(sum, params->multiplier, params->shift);
  return (int16_t)pl_clamp(value, INT16_MIN, INT16_MAX);
}

pl_status pl_mean_s16(const pl_context *ctx, const pl_mean_s16_params *params,
                      const pl_mean_s16_dims *dims, const pl_mean_s16_data *data) {
  (void)ctx;
  int16_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int16_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; --left, x += dims->kept_stride[2]) {
        *output++ = mean(params, dims, x);
      }
    }
  }
  return PL_OK;
}
