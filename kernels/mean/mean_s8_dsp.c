// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean/mean.h"

#include "kernels/common/dsp.h"
#include "kernels/common/requantize.h"

// Number of int8 values, less as many zero points, with a sum below 2^30. pl_narrow_dsp needs this
// bound.
#define MAX_COUNT (1 << 22)

// Neighbours in output and input with shared sum loops.
#define COLUMNS 4

// Number of int8 values fitting a sum of 16 bits.
#define MAX_TAPS 255

// The sums are halves of two words, widened before they are full; they and the factor are as
// pl_narrow_dsp asks for.
static __attribute__((noinline)) void mean_4_columns(const pl_mean_params *params,
                                                     const pl_mean_dims *dims, const int8_t *x,
                                                     int8_t *output) {
  int32_t sum0 = params->offset;
  int32_t sum1 = sum0;
  int32_t sum2 = sum0;
  int32_t sum3 = sum0;
  const int32_t step = dims->reduced_stride[2];
  int32_t i = dims->reduced[0];
  do {
    const int8_t *row = x;
    int32_t j = dims->reduced[1];
    do {
      const int8_t *at = row;
      int32_t left = dims->reduced[2];
      do {
        int16x2_t even = 0;
        int16x2_t odd = 0;
        for (int32_t taps = left < MAX_TAPS ? left : MAX_TAPS; taps > 0; --taps, at += step) {
          const int8x4_t four = pl_load_4(at);
          even = pl_add_even_s16(even, four);
          odd = pl_add_odd_s16(odd, four);
        }
        sum0 += (int16_t)even;
        sum1 += (int16_t)odd;
        sum2 += even >> 16;
        sum3 += odd >> 16;
        left -= MAX_TAPS;
      } while (left > 0);
      row += dims->reduced_stride[1];
    } while (--j > 0);
    x += dims->reduced_stride[0];
  } while (--i > 0);
  const int32_t multiplier = params->multiplier;
  const int32_t right = -params->shift - 1;
  const int32_t rounding = 2 * params->output_zero_point + 1;
  output[0] = pl_narrow_dsp(2 * sum0, multiplier, right, rounding);
  output[1] = pl_narrow_dsp(2 * sum1, multiplier, right, rounding);
  output[2] = pl_narrow_dsp(2 * sum2, multiplier, right, rounding);
  output[3] = pl_narrow_dsp(2 * sum3, multiplier, right, rounding);
}

static int8_t mean_1(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                     int is_down) {
  int32_t sum = params->offset;
  const int32_t step = dims->reduced_stride[2];
  for (int32_t i = dims->reduced[0]; i > 0; --i, x += dims->reduced_stride[0]) {
    const int8_t *row = x;
    for (int32_t j = dims->reduced[1]; j > 0; --j, row += dims->reduced_stride[1]) {
      const int8_t *at = row;
      for (int32_t left = dims->reduced[2]; left > 0; --left, at += step) sum += *at;
    }
  }
  if (is_down) {
    return pl_narrow_dsp(2 * sum, params->multiplier, -params->shift - 1,
                         2 * params->output_zero_point + 1);
  }
  return pl_narrow(pl_requantize(sum, params->multiplier, params->shift), params->output_zero_point,
                   INT8_MIN, INT8_MAX);
}

pl_status pl_mean_s8(const pl_context *ctx, const pl_mean_params *params, const pl_mean_dims *dims,
                     const pl_mean_data *data) {
  (void)ctx;
  const int32_t count = dims->reduced[0] * dims->reduced[1] * dims->reduced[2];
  const int is_down = params->shift < 0 && params->shift >= -20 && count < MAX_COUNT;
  const int32_t columns = is_down && dims->kept_stride[2] == 1 ? dims->kept[2] : 0;
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x = data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      int32_t c = 0;
      // The last four may be some of the four before them, again.
      for (; columns >= COLUMNS && c < columns - 1; c += COLUMNS) {
        const int32_t first = c < columns - COLUMNS ? c : columns - COLUMNS;
        mean_4_columns(params, dims, x + first, output + first);
      }
      for (; c < dims->kept[2]; ++c) {
        output[c] = mean_1(params, dims, x + c * dims->kept_stride[2], is_down);
      }
      output += dims->kept[2];
    }
  }
  return PL_OK;
}
