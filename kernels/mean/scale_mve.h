// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_MEAN_SCALE_MVE_H_
#define KERNELS_MEAN_SCALE_MVE_H_

#include "kernels/common/narrow_mve.h"
#include "kernels/mean/mean.h"

static inline pl_scale_mve pl_mean_scale(const pl_mean_params *params) {
  return (pl_scale_mve){params->multiplier, params->shift, params->output_zero_point};
}

static inline pl_sums_mve pl_mean_start(const pl_mean_params *params) {
  return (pl_sums_mve){vdupq_n_s32(params->offset), vdupq_n_s32(params->offset)};
}

// For 16-bit sums, with dividing factors.
static inline int16x8_t pl_mean_down(const pl_mean_params *params, int16x8_t sum) {
  const pl_sums_mve sums = {vaddq_n_s32(vmovlbq_s16(sum), params->offset),
                            vaddq_n_s32(vmovltq_s16(sum), params->offset)};
  return pl_scale_down_mve(sums, pl_mean_scale(params));
}

#endif  // KERNELS_MEAN_SCALE_MVE_H_
