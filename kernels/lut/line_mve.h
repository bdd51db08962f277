// SPDX-License-Identifier: Apache-2.0
// line_s16.h on four lanes of Helium.
#ifndef KERNELS_LUT_LINE_MVE_H_
#define KERNELS_LUT_LINE_MVE_H_

#include <arm_mve.h>

#include "kernels/lut/line_s16.h"

static inline int32x4_t pl_lut_line_mve(const int16_t *table, int32x4_t x, mve_pred16_t lanes) {
  const uint32x4_t index =
      vreinterpretq_u32_s32(vaddq_n_s32(vshrq_n_s32(x, PL_LUT_STEP_BITS), PL_LUT_MIDDLE));
  const int32x4_t entry = vldrhq_gather_shifted_offset_z_s32(table, index, lanes);
  const int32x4_t next = vldrhq_gather_shifted_offset_z_s32(table + 1, index, lanes);
  const int32x4_t part = vandq_s32(x, vdupq_n_s32((1 << PL_LUT_STEP_BITS) - 1));
  const int32x4_t rise = vmulq_s32(vsubq_s32(next, entry), part);
  return vaddq_s32(entry, vrshrq_n_s32(rise, PL_LUT_STEP_BITS));
}

#endif  // KERNELS_LUT_LINE_MVE_H_
