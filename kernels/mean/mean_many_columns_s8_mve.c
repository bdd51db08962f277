// SPDX-License-Identifier: Apache-2.0
// More values than fit into sums of 16 bits, which are widened before they are full.
#include "kernels/mean/columns_mve.h"

#define MAX_TAPS 255

static void mean_32(const pl_mean_params *params, const pl_mean_dims *dims, const int8_t *x,
                    int8_t *output) {
  const int32_t step = dims->reduced_stride[2];
  int32x4_t even[PL_MEAN_VECTORS];
  int32x4_t odd[PL_MEAN_VECTORS];
  for (int32_t i = 0; i < PL_MEAN_VECTORS; ++i) even[i] = odd[i] = vdupq_n_s32(params->offset);
  for (int32_t left = dims->reduced[2]; left > 0; left -= MAX_TAPS) {
    const int32_t taps = left < MAX_TAPS ? left : MAX_TAPS;
    int16x8_t all[PL_MEAN_VECTORS] = {vdupq_n_s16(0), vdupq_n_s16(0), vdupq_n_s16(0),
                                      vdupq_n_s16(0)};
    pl_add_taps(x, step, taps, all);
    x += taps * step;
    for (int32_t i = 0; i < PL_MEAN_VECTORS; ++i) {
      even[i] = vaddq_s32(even[i], vmovlbq_s16(all[i]));
      odd[i] = vaddq_s32(odd[i], vmovltq_s16(all[i]));
    }
  }
  for (int32_t i = 0; i < PL_MEAN_VECTORS; ++i) {
    const int16x8_t y = narrowed(params, divide(params, even[i]), divide(params, odd[i]));
    vstrbq_s16(output + i * PL_MEAN_LANES, y);
  }
}

pl_status pl_mean_many_columns_s8(const pl_context *ctx, const pl_mean_params *params,
                                  const pl_mean_dims *dims, const pl_mean_data *data) {
  (void)ctx;
  pl_mean_by_32(params, dims, data, mean_32);
  return PL_OK;
}
