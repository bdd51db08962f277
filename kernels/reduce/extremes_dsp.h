// SPDX-License-Identifier: Apache-2.0
// The largest or the smallest int8 of four at a time.
#ifndef KERNELS_REDUCE_EXTREMES_DSP_H_
#define KERNELS_REDUCE_EXTREMES_DSP_H_

#include "kernels/common/dsp.h"
#include "kernels/reduce/extremes.h"

#define PL_EXTREME_LANES 4

typedef int8x4_t pl_pick_lanes(int8x4_t a, int8x4_t b);

// Contiguous values are reduced to one.
PL_INLINE int32_t pl_extreme_of_rows(const pl_reduce_dims *dims, const int8_t *x,
                                     pl_pick_lanes *pick, pl_fold_function *function) {
  int32_t result = *x;
  int8x4_t best = (int8x4_t)(0x01010101u * (uint8_t)*x);
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      int32_t left = dims->reduced[2];
      for (; left >= PL_EXTREME_LANES; left -= PL_EXTREME_LANES, at += PL_EXTREME_LANES) {
        best = pick(best, pl_load_4(at));
      }
      for (; left > 0; --left) function(&result, *at++);
    }
  }
  for (int32_t lane = 0; lane < PL_EXTREME_LANES; ++lane, best >>= 8) {
    function(&result, (int8_t)best);
  }
  return result;
}

// Contiguous outputs are reduced together.
PL_INLINE pl_status pl_extremes_of_columns(const pl_reduce_dims *dims, const pl_reduce_data *data,
                                           pl_pick_lanes *pick, pl_fold_function *function) {
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x =
          (const int8_t *)data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      int32_t left = dims->kept[2];
      for (; left >= PL_EXTREME_LANES; left -= PL_EXTREME_LANES) {
        int8x4_t best = pl_load_4(x);
        for (int32_t k = 0; k < dims->reduced[0]; ++k) {
          for (int32_t l = 0; l < dims->reduced[1]; ++l) {
            const int8_t *at = x + k * dims->reduced_stride[0] + l * dims->reduced_stride[1];
            for (int32_t m = dims->reduced[2]; m > 0; --m, at += dims->reduced_stride[2]) {
              best = pick(best, pl_load_4(at));
            }
          }
        }
        __builtin_memcpy(output, &best, PL_EXTREME_LANES);
        x += PL_EXTREME_LANES;
        output += PL_EXTREME_LANES;
      }
      for (; left > 0; --left) *output++ = (int8_t)pl_extreme_s8(dims, x++, function);
    }
  }
  return PL_OK;
}

#endif  // KERNELS_REDUCE_EXTREMES_DSP_H_
