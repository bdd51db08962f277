// SPDX-License-Identifier: Apache-2.0
#include "kernels/mean/columns_mve.h"

static void mean_32(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                    int8_t *output) {
  const pl_mean_params p = *params;
  int16x8_t all[PL_MEAN_VECTORS] = {vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0)};
  pl_add_taps(x, dims->reduced_stride[2], dims->reduced[2], all);
#pragma GCC unroll 4
  for (int32_t i = 0; i < PL_MEAN_VECTORS; ++i) {
    vstrbq_s16(output + i * PL_MEAN_LANES, pl_mean_down(&p, all[i]));
    __asm__ volatile("" ::: "memory");  // or GCC would widen all first, and spill
  }
}

pl_status pl_mean_columns_s8(const pl_context *ctx, const pl_mean_params *params,
                             const pl_mean_dims *dims, const pl_mean_data *data) {
  (void)ctx;
  pl_mean_by_32(params, dims, data, mean_32);
  return PL_OK;
}
