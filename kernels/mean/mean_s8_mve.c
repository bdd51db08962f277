// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean/scale_mve.h"

#define LANES 8

// Number of int8 values fitting a sum of 16 bits.
#define MAX_TAPS 255

static inline int32_t smaller(int32_t a, int32_t b) { return a < b ? a : b; }

static void mean_8(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                   mve_pred16_t lanes, int8_t *output) {
  pl_sums_mve sums = pl_mean_start(params);
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; left -= MAX_TAPS) {
        int16x8_t sum = vdupq_n_s16(0);
        for (int32_t taps = smaller(left, MAX_TAPS); taps > 0; --taps, at += step) {
          sum = vaddq_s16(sum, vldrbq_z_s16(at, lanes));
        }
        sums = pl_widen_mve(sums, sum);
      }
    }
  }
  vstrbq_p_s16(output, pl_scale_sums_mve(sums, pl_mean_scale(params)), lanes);
}

// The innermost reduced dimension is contiguous, or not.
static int8_t mean_1(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x) {
  int32_t sum = params->offset;
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      int32_t left = dims->reduced[2];
      if (step == 1) {
        for (; left > 0; left -= 16) {
          sum = vaddvaq_p_s8(sum, vldrbq_z_s8(at, vctp8q((uint32_t)left)), vctp8q((uint32_t)left));
          at += 16;
        }
      }
      for (; left > 0; --left, at += step) sum += *at;
    }
  }
  return pl_narrow(pl_requantize(sum, params->multiplier, params->shift), params->output_zero_point,
                   INT8_MIN, INT8_MAX);
}

pl_status pl_mean_s8(const pl_context *ctx, const pl_mean_params *params, const pl_mean_dims *dims,
                     const pl_mean_data *data) {
  (void)ctx;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      int32_t left = dims->kept[2];
      if (dims->kept_stride[2] == 1) {
        for (; left > 0; left -= LANES) {
          mean_8(params, dims, x, vctp16q((uint32_t)left), output);
          x += LANES;
          output += smaller(left, LANES);
        }
      }
      for (; left > 0; --left, x += dims->kept_stride[2]) *output++ = mean_1(params, dims, x);
    }
  }
  return PL_OK;
}
