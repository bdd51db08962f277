// SPDX-License-Identifier: Apache-2.0
// The largest or the smallest int8 of sixteen at a time.
#ifndef KERNELS_REDUCE_EXTREMES_MVE_H_
#define KERNELS_REDUCE_EXTREMES_MVE_H_

#include <arm_mve.h>

#include "kernels/reduce/extremes.h"

#define PL_EXTREME_LANES 16

// Selects from a and b, and returns a if p is off.
typedef int8x16_t pl_pick_lanes(int8x16_t a, int8x16_t b, mve_pred16_t p);

// Selects from `first` and all lanes.
typedef int8_t pl_pick_across(int8_t first, int8x16_t x);

// Contiguous values are reduced to one.
PL_INLINE int32_t pl_extreme_of_rows(const pl_reduce_dims *dims, const int8_t *x,
                                     pl_pick_lanes *pick, pl_pick_across *across) {
  int8x16_t best = vdupq_n_s8(*x);
  for (int32_t i = 0; i < dims->reduced[0]; ++i) {
    for (int32_t j = 0; j < dims->reduced[1]; ++j) {
      const int8_t *at = x + i * dims->reduced_stride[0] + j * dims->reduced_stride[1];
      for (int32_t left = dims->reduced[2]; left > 0; left -= PL_EXTREME_LANES) {
        const mve_pred16_t p = vctp8q((uint32_t)left);
        best = pick(best, vldrbq_z_s8(at, p), p);
        at += PL_EXTREME_LANES;
      }
    }
  }
  return across(*x, best);
}

// Contiguous outputs are reduced together.
PL_INLINE pl_status pl_extremes_of_columns(const pl_reduce_dims *dims, const pl_reduce_data *data,
                                           pl_pick_lanes *pick) {
  int8_t *output = data->output;
  for (int32_t i = 0; i < dims->kept[0]; ++i) {
    for (int32_t j = 0; j < dims->kept[1]; ++j) {
      const int8_t *x =
          (const int8_t *)data->input + i * dims->kept_stride[0] + j * dims->kept_stride[1];
      for (int32_t left = dims->kept[2]; left > 0; left -= PL_EXTREME_LANES) {
        const mve_pred16_t p = vctp8q((uint32_t)left);
        int8x16_t best = vldrbq_z_s8(x, p);
        for (int32_t k = 0; k < dims->reduced[0]; ++k) {
          for (int32_t l = 0; l < dims->reduced[1]; ++l) {
            const int8_t *at = x + k * dims->reduced_stride[0] + l * dims->reduced_stride[1];
            for (int32_t m = dims->reduced[2]; m > 0; --m, at += dims->reduced_stride[2]) {
              best = pick(best, vldrbq_z_s8(at, p), p);
            }
          }
        }
        vstrbq_p_s8(output, best, p);
        x += PL_EXTREME_LANES;
        output += left < PL_EXTREME_LANES ? left : PL_EXTREME_LANES;
      }
    }
  }
  return PL_OK;
}

#endif  // KERNELS_REDUCE_EXTREMES_MVE_H_
