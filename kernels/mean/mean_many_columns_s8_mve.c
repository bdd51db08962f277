// SPDX-License-Identifier: Apache-2.0
// More values than fit into 16-bit sums. The sums are widened before they overflow.
#include "kernels/mean/columns_mve.h"

#define MAX_TAPS 255

static void mean_32(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                    int8_t *output) {
  const int32_t step = dims->reduced_stride[2];
  pl_sums_mve sums[PL_MEAN_VECTORS];
  for (int32_t i = 0; i < PL_MEAN_VECTORS; ++i) sums[i] = pl_mean_start(params);
  for (int32_t left = dims->reduced[2]; left > 0; left -= MAX_TAPS) {
    const int32_t taps = left < MAX_TAPS ? left : MAX_TAPS;
    int16x8_t all[PL_MEAN_VECTORS] = {vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0),
                                      vdupq_n_s16(0)};
    pl_add_taps(x, step, taps, all);
    x += taps * step;
    for (int32_t i = 0; i < PL_MEAN_VECTORS; ++i) sums[i] = pl_widen_mve(sums[i], all[i]);
  }
  for (int32_t i = 0; i < PL_MEAN_VECTORS; ++i) {
    vstrbq_s16(output + i * PL_MEAN_LANES, pl_scale_down_mve(sums[i], pl_mean_scale(params)));
  }
}

pl_status pl_mean_many_columns_s8(const pl_context *ctx, const pl_mean_params *params,
                                  const pl_mean_dims *dims, const pl_mean_data *data) {
  (void)ctx;
  pl_mean_by_32(params, dims, data, mean_32);
  return PL_OK;
}
