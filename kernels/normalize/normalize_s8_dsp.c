// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/common/requantize.h"
#include "kernels/normalize/factors.h"

// Four values of a run at a time: SXTB16 gives two of them in a word, SMLAD adds their squares, or,
// by ones, themselves.
static pl_moments moments_of(const pl_normalize_dims *dims, const int8_t *x) {
  const int16x2_t ones = 0x00010001;
  const int32_t step = dims->value_stride[2];
  const int32_t size = dims->values[2];
  int32_t sum = 0;
  int32_t squares = 0;
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      const int8_t *at = x + i * dims->value_stride[0] + j * dims->value_stride[1];
      int32_t left = size;
      if (step == 1) {
        for (; left >= 4; left -= 4, at += 4) {
          const int8x4_t four = pl_load_4(at);
          const int16x2_t even = pl_even_s16(four);
          const int16x2_t odd = pl_odd_s16(four);
          sum = __smlad(even, ones, __smlad(odd, ones, sum));
          squares = __smlad(even, even, __smlad(odd, odd, squares));
        }
      }
      for (; left > 0; --left, at += step) {
        sum += *at;
        squares = __smlabb(*at, *at, squares);
      }
    }
  }
  return (pl_moments){sum, (uint32_t)squares};
}

// A run of values. `is_whole` is set if nothing needs clamping; SSAT then limits the values. `step`
// and `channel_step` are constants if the values are contiguous, each with its own channel.
PL_INLINE void normalize_run(const pl_normalize_params *params, pl_norm_factors f, int32_t is_whole,
                             int32_t size, int32_t step, int32_t channel_step, const int8_t *x,
                             const int32_t *affine, int8_t *output) {
  const uint32_t offset = 0U - f.offset;
  const int32_t bits = params->output_bits;
  const int32_t minimum = is_whole ? INT8_MIN : params->activation_min;
  const int32_t maximum = is_whole ? INT8_MAX : params->activation_max;
  for (; size > 0; --size) {
    const int32_t normalized = (int32_t)(f.scale * (uint32_t)*x + offset);
    int32_t high;  // a product in C, with SSAT as bounds, took 8 % more for a group norm
    __asm__("smmul %0, %1, %2" : "=r"(high) : "r"(normalized), "r"(affine[0]));
    *output = (int8_t)pl_clamp(((high >> f.shift) + affine[1]) >> bits, minimum, maximum);
    x += step;
    output += step;
    affine += channel_step;
  }
}

static void normalize_part(const pl_normalize_params *params, const pl_normalize_dims *dims,
                           const int8_t *x, const int32_t *affine, int8_t *output) {
  const pl_norm_factors f = pl_norm_factors_of(params, dims->count, moments_of(dims, x));
  const int32_t is_whole = params->activation_max - params->activation_min == INT8_MAX - INT8_MIN;
  const int32_t size = dims->values[2];
  const int32_t step = dims->value_stride[2];
  const int32_t channel_step = 2 * dims->value_channels[2];
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      const int32_t at = i * dims->value_stride[0] + j * dims->value_stride[1];
      const int32_t channel = i * dims->value_channels[0] + j * dims->value_channels[1];
      const int32_t *a = affine + 2 * channel;
      if (is_whole && step == 1 && channel_step == 2) {
        normalize_run(params, f, 1, size, 1, 2, x + at, a, output + at);
      } else if (is_whole) {
        normalize_run(params, f, 1, size, step, channel_step, x + at, a, output + at);
      } else {
        normalize_run(params, f, 0, size, step, channel_step, x + at, a, output + at);
      }
    }
  }
}

pl_status pl_normalize_s8(const pl_context *ctx, const pl_normalize_params *params,
                          const pl_normalize_dims *dims, const pl_normalize_data *data) {
  (void)ctx;
  return pl_normalize_parts(params, dims, data, normalize_part);
}
