// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"
#include "kernels/normalize/normalize_s16.h"
#include "kernels/normalize/root.h"

typedef struct {
  int32_t sum;
  int64_t squares;
} moments;

// Common data of a part's values: (count * (x - center) - rest) * root / 2^shift is the normalized
// x.
typedef struct {
  int32_t center;
  int32_t rest;
  uint32_t root;
  int32_t shift;
} factors;

static moments moments_of(const pl_normalize_dims *dims, const int16_t *x) {
  moments m = {0, 0};
  const int32_t step = dims->value_stride[2];
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      const int16_t *at = x + i * dims->value_stride[0] + j * dims->value_stride[1];
      for (int32_t left = dims->values[2]; left > 0; --left, at += step) {
        const int64_t value = *at;
        m.sum += *at;
        m.squares += value * value;
      }
    }
  }
  return m;
}

static factors factors_of(const pl_normalize_params *params, int32_t count, moments m) {
  factors f = {0};
  if (params->centered) {
    f.center = m.sum / count;
    f.rest = m.sum - count * f.center;
  }
  const int64_t squares =
      m.squares - (int64_t)f.center * (2 * (int64_t)m.sum - (int64_t)count * f.center);
  const uint64_t spread = (uint64_t)(count * squares - (int64_t)f.rest * f.rest);
  int32_t shift;
  f.root = pl_norm_root(params, spread, &shift);
  f.shift = pl_clamp(params->given_bits - shift, 1, 62);
  return f;
}

static void normalize_part(const pl_normalize_params *params, const pl_normalize_dims *dims,
                           const int16_t *x, const int32_t *affine, int16_t *output) {
  const int32_t count = dims->count;
  const factors f = factors_of(params, count, moments_of(dims, x));
  const int32_t step = dims->value_stride[2];
  const int32_t channel_step = 2 * dims->value_channels[2];
  for (int32_t i = 0; i < dims->values[0]; ++i) {
    for (int32_t j = 0; j < dims->values[1]; ++j) {
      int32_t at = i * dims->value_stride[0] + j * dims->value_stride[1];
      const int32_t channel = i * dims->value_channels[0] + j * dims->value_channels[1];
      const int32_t *a = affine + 2 * channel;
      for (int32_t left = dims->values[2]; left > 0; --left, at += step, a += channel_step) {
        const int32_t deviation = count * (x[at] - f.center) - f.rest;
        const int64_t normalized = pl_rounded((int64_t)deviation * f.root, f.shift);
        const int32_t scaled = (int32_t)((normalized * a[0]) >> 32);
        const int32_t value = (scaled + a[1]) >> params->output_bits;
        output[at] = (int16_t)pl_clamp(value, params->activation_min, params->activation_max);
      }
    }
  }
}

pl_status pl_normalize_s16(const pl_context *ctx, const pl_normalize_s16_params *params,
                           const pl_normalize_s16_dims *dims, const pl_normalize_s16_data *data) {
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
