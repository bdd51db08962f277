// SPDX-License-Identifier: Apache-2.0
// requantize.h on four lanes of Helium.
#ifndef KERNELS_COMMON_REQUANTIZE_MVE_H_
#define KERNELS_COMMON_REQUANTIZE_MVE_H_

#include <arm_mve.h>

#include "kernels/common/requantize.h"

// Multiplier and shift, the latter as left >= 0 and right <= 0.
typedef struct {
  int32x4_t multiplier;
  int32x4_t left;
  int32x4_t right;
} pl_factors_mve;

static inline pl_factors_mve pl_load_factors_mve(const int32_t *multiplier, const int32_t *shift,
                                                 mve_pred16_t p) {
  const int32x4_t zero = vdupq_n_s32(0);
  const int32x4_t shifts = vldrwq_z_s32(shift, p);
  return (pl_factors_mve){vldrwq_z_s32(multiplier, p), vmaxq_s32(shifts, zero),
                          vminq_s32(shifts, zero)};
}

// The same for all lanes.
static inline pl_factors_mve pl_same_factors_mve(int32_t multiplier, int32_t shift) {
  return (pl_factors_mve){vdupq_n_s32(multiplier), vdupq_n_s32(shift > 0 ? shift : 0),
                          vdupq_n_s32(shift < 0 ? shift : 0)};
}

// VRSHL rounds ties up; subtracting one from negative values makes that away from zero.
static inline int32x4_t pl_requantize_mve(int32x4_t x, pl_factors_mve factors) {
  const int32x4_t high = vqrdmulhq_s32(vqshlq_s32(x, factors.left), factors.multiplier);
  const int32x4_t below_zero = vshrq_n_s32(vandq_s32(high, factors.right), 31);
  return vrshlq_s32(vaddq_s32(high, below_zero), factors.right);
}

// The same with one factor for all lanes, and a shift below 0. The sign of x is added to the
// product's high half. If it differs from the half's own sign, the half is 0, and -1 becomes 0.
static inline int32x4_t pl_requantize_down_mve(int32x4_t x, int32_t multiplier, int32_t shift) {
  return vrshlq_n_s32(vqrdmlahq_n_s32(vshrq_n_s32(x, 31), x, multiplier), shift);
}

// clamp(x + zero_point) for any x.
static inline int32x4_t pl_narrow_mve(int32x4_t x, const pl_output_stage *stage) {
  const int32x4_t value = vqaddq_n_s32(x, stage->zero_point);
  return vminq_s32(vmaxq_s32(value, vdupq_n_s32(stage->activation_min)),
                   vdupq_n_s32(stage->activation_max));
}

#endif  // KERNELS_COMMON_REQUANTIZE_MVE_H_
