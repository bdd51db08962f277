// SPDX-License-Identifier: Apache-2.0
#include "kernels/normalize/normalize.h"

#include "kernels/common/requantize.h"
#include "kernels/normalize/rsqrt.h"

typedef struct {
  int32_t sum;
  uint32_t squares;
} moments;

// What the values of a part have in common: scale * x - offset, modulo 2^32, is the normalized x.
typedef struct {
  uint32_t scale;
  uint32_t offset;
  int32_t shift;
} factors;

static moments moments_of(const pl_normalize_dims *dims, const int8_t *x) {
  moments m = {0, 0};
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

static factors factors_of(const pl_normalize_params *params, int32_t count, moments m) {
  int32_t center = params->center;
  int32_t rest = 0;
  if (params->centered) {
    center = m.sum / count;
    rest = m.sum - count * center;
  }
  const int64_t squares =
      (int64_t)m.squares - (int64_t)center * (2 * (int64_t)m.sum - (int64_t)count * center);
  const uint64_t spread = (uint64_t)(count * squares - (int64_t)rest * rest);
  const int32_t up = params->radicand_shift;
  const uint64_t epsilon = (uint64_t)params->epsilon_high << 32 | params->epsilon_low;
  const uint64_t radicand = (up >= 0 ? spread << up : spread >> -up) + epsilon;
  int32_t shift;
  const int64_t root = pl_rsqrt(radicand | 1, &shift);  // of 0 there is none

  const int32_t given = params->given_bits - shift > 1 ? params->given_bits - shift : 1;
  const int32_t most = params->count_bits + 8;
  const int32_t dropped = given < most ? given : most;
  const uint32_t scale = (uint32_t)pl_rounded(count * root, dropped);
  const uint32_t offset = scale * (uint32_t)center + (uint32_t)pl_rounded(rest * root, dropped);
  return (factors){scale, offset, given - dropped};
}

static void normalize_part(const pl_normalize_params *params, const pl_normalize_dims *dims,
                           const int8_t *x, const int32_t *affine, int8_t *output) {
  const factors f = factors_of(params, dims->count, moments_of(dims, x));
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
        const int32_t scaled = (int32_t)(((int64_t)normalized * a[0]) >> 32) >> f.shift;
        output[at] = (int8_t)pl_clamp((scaled + a[1]) >> bits, minimum, maximum);
      }
    }
  }
}

pl_status pl_normalize_s8(const pl_context *ctx, const pl_normalize_params *params,
                          const pl_normalize_dims *dims, const pl_normalize_data *data) {
  (void)ctx;
  for (int32_t i = 0; i < dims->parts[0]; ++i) {
    for (int32_t j = 0; j < dims->parts[1]; ++j) {
      for (int32_t k = 0; k < dims->parts[2]; ++k) {
        const int32_t at =
            i * dims->part_stride[0] + j * dims->part_stride[1] + k * dims->part_stride[2];
        const int32_t channel =
            i * dims->part_channels[0] + j * dims->part_channels[1] + k * dims->part_channels[2];
        normalize_part(params, dims, data->input + at, data->affine + 2 * channel,
                       data->output + at);
      }
    }
  }
  return PL_OK;
}
