// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean/mean.h"

#include "kernels/common/requantize.h"

// Neighbours in output and input with shared sum loops.
#define COLUMNS 4

static inline int8_t narrow(int32_t sum, const pl_mean_params *params) {
  return pl_narrow(pl_requantize(sum, params->multiplier, params->shift), params->output_zero_point,
                   INT8_MIN, INT8_MAX);
}

static void mean_4_columns(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                           int8_t *output) {
  int32_t sum0 = params->offset;
  int32_t sum1 = params->offset;
  int32_t sum2 = params->offset;
  int32_t sum3 = params->offset;
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += step) {
        sum0 += at[0];
        sum1 += at[1];
        sum2 += at[2];
        sum3 += at[3];
      }
    }
  }
  output[0] = narrow(sum0, params);
  output[1] = narrow(sum1, params);
  output[2] = narrow(sum2, params);
  output[3] = narrow(sum3, params);
}

static int8_t mean_1(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x) {
  int32_t sum = params->offset;
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += step) sum += *at;
    }
  }
  return narrow(sum, params);
}

pl_status pl_mean_s8(const pl_context *ctx, const pl_mean_params *params, const pl_mean_dims *dims,
                     const pl_mean_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      int32_t left = dims->kept[2];
      for (; left >= COLUMNS && dims->kept_stride[2] == 1; left -= COLUMNS) {
        mean_4_columns(params, dims, x, output);
        x += COLUMNS;
        output += COLUMNS;
      }
      for (; left > 0; --left, x += dims->kept_stride[2]) *output++ = mean_1(params, dims, x);
    }
  }
  return PL_OK;
}
