// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean/mean.h"

#include "kernels/common/dsp.h"
#include "kernels/common/requantize.h"

// So many int8, less as many zero points, add up to less than 2^30, as pl_narrow_dsp asks for.
#define MAX_COUNT (1 << 22)

// Neighbours in the output and in the input, which share the loops of a sum.
#define COLUMNS 4

static inline int8_t narrow(int32_t sum, const pl_mean_params *params) {
  return pl_narrow(pl_requantize(sum, params->multiplier, params->shift), params->output_zero_point,
                   INT8_MIN, INT8_MAX);
}

// So many int8 fit into a sum of 16 bits.
#define MAX_TAPS 255

// The sums are halves of two words, widened before they are full.
static void mean_4_columns(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                           int8_t *output) {
  int32_t sums[COLUMNS] = {params->offset, params->offset, params->offset, params->offset};
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; left -= MAX_TAPS) {
        int16x2_t even = 0;
        int16x2_t odd = 0;
        for (int32_t taps = left < MAX_TAPS ? left : MAX_TAPS; taps > 0; --taps, at += step) {
          const int8x4_t four = pl_load_4(at);
          even = pl_add_even_s16(even, four);
          odd = pl_add_odd_s16(odd, four);
        }
        sums[0] += (int16_t)even;
        sums[1] += (int16_t)odd;
        sums[2] += even >> 16;
        sums[3] += odd >> 16;
      }
    }
  }
  const int32_t count = dims->reduced[0] * dims->reduced[1] * dims->reduced[2];
  const int32_t shift = params->shift;
  if (shift < 0 && shift >= -20 && count < MAX_COUNT) {
    for (int32_t i = 0; i < COLUMNS; ++i) {
      output[i] = pl_narrow_dsp(2 * sums[i], params->multiplier, -shift - 1,
                                2 * params->output_zero_point + 1);
    }
  } else {
    for (int32_t i = 0; i < COLUMNS; ++i) output[i] = narrow(sums[i], params);
  }
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
