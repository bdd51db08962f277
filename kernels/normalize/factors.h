// SPDX-License-Identifier: Apache-2.0
// Shared by the variants of pl_normalize_s8: factors derived from the moments of a part.
#ifndef KERNELS_NORMALIZE_FACTORS_H_
#define KERNELS_NORMALIZE_FACTORS_H_

#include "kernels/normalize/normalize.h"
#include "kernels/normalize/root.h"

typedef struct {
  int32_t sum;
  uint32_t squares;
} pl_moments;

// Common data of a part's values: scale * x - offset, modulo 2^32, is the normalized x.
typedef struct {
  uint32_t scale;
  uint32_t offset;
  int32_t shift;
} pl_norm_factors;

static inline pl_norm_factors pl_norm_factors_of(const pl_normalize_params *params, int32_t count,
                                                 pl_moments m) {
  int32_t center = params->center;
  int32_t rest = 0;
  if (params->centered) {
    center = m.sum / count;
    rest = m.sum - count * center;
  }
  const int64_t squares =
      (int64_t)m.squares - (int64_t)center * (2 * (int64_t)m.sum - (int64_t)count * center);
  const uint64_t spread = (uint64_t)(count * squares - (int64_t)rest * rest);
  int32_t shift;
  const int64_t root = pl_norm_root(params, spread, &shift);

  const int32_t given = params->given_bits - shift > 1 ? params->given_bits - shift : 1;
  const int32_t most = params->count_bits + 8;
  const int32_t dropped = given < most ? given : most;
  const uint32_t scale = (uint32_t)pl_rounded(count * root, dropped);
  const uint32_t offset = scale * (uint32_t)center + (uint32_t)pl_rounded(rest * root, dropped);
  return (pl_norm_factors){scale, offset, given - dropped};
}

// Calls normalize for every part.
PL_INLINE pl_status pl_normalize_parts(
    const pl_normalize_params *params, const pl_normalize_dims *dims, const pl_normalize_data *data,
    void (*normalize)(const pl_normalize_params *params, const pl_normalize_dims *dims,
                      const int8_t *x, const int32_t *affine, int8_t *output)) {
  for (int32_t i = 0; i < dims->parts[0]; ++i) {
    for (int32_t j = 0; j < dims->parts[1]; ++j) {
      for (int32_t k = 0; k < dims->parts[2]; ++k) {
        const int32_t at =
            i * dims->part_stride[0] + j * dims->part_stride[1] + k * dims->part_stride[2];
        const int32_t channel =
            i * dims->part_channels[0] + j * dims->part_channels[1] + k * dims->part_channels[2];
        normalize(params, dims, data->input + at, data->affine + 2 * channel, data->output + at);
      }
    }
  }
  return PL_OK;
}

#endif  // KERNELS_NORMALIZE_FACTORS_H_
