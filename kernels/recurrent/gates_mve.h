// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_GATES_MVE_H_
#define KERNELS_RECURRENT_GATES_MVE_H_

#include <stddef.h>

#include "kernels/common/requantize_mve.h"
#include "kernels/recurrent/gates.h"

// weight: [gates, count].
static inline __attribute__((always_inline)) void pl_add_gate_sums(const void *input, bool wide,
                                                                   int32_t count,
                                                                   const int8_t *weight,
                                                                   int32_t gates, int32_t *sums) {
  const int8_t *weight1 = weight + count;
  const int8_t *weight2 = weight1 + count;
  const int8_t *weight3 = weight2 + count;
  int32_t sum0 = sums[0];
  int32_t sum1 = sums[1];
  int32_t sum2 = sums[2];
  int32_t sum3 = sums[3];
  if (wide) {
    const int16_t *x = input;
    for (; count > 0; count -= 8) {
      const mve_pred16_t p = vctp16q((uint32_t)count);
      const int16x8_t xs = vldrhq_z_s16(x, p);
      sum0 = vmladavaq_p_s16(sum0, xs, vldrbq_z_s16(weight, p), p);
      if (gates > 1) sum1 = vmladavaq_p_s16(sum1, xs, vldrbq_z_s16(weight1, p), p);
      if (gates > 2) sum2 = vmladavaq_p_s16(sum2, xs, vldrbq_z_s16(weight2, p), p);
      if (gates > 3) sum3 = vmladavaq_p_s16(sum3, xs, vldrbq_z_s16(weight3, p), p);
      x += 8;
      weight += 8;
      weight1 += 8;
      weight2 += 8;
      weight3 += 8;
    }
  } else {
    const int8_t *x = input;
    for (; count > 0; count -= 16) {
      const mve_pred16_t p = vctp8q((uint32_t)count);
      const int8x16_t xs = vldrbq_z_s8(x, p);
      sum0 = vmladavaq_p_s8(sum0, xs, vldrbq_z_s8(weight, p), p);
      if (gates > 1) sum1 = vmladavaq_p_s8(sum1, xs, vldrbq_z_s8(weight1, p), p);
      if (gates > 2) sum2 = vmladavaq_p_s8(sum2, xs, vldrbq_z_s8(weight2, p), p);
      if (gates > 3) sum3 = vmladavaq_p_s8(sum3, xs, vldrbq_z_s8(weight3, p), p);
      x += 16;
      weight += 16;
      weight1 += 16;
      weight2 += 16;
      weight3 += 16;
    }
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}

// A lane a gate; one alone takes less without.
static inline void pl_requantize_gates(const int32_t *sums, int32_t gates, const int32_t *bias,
                                       const int32_t *multiplier, const int32_t *shift,
                                       int32_t *part) {
  if (gates == 1) {
    part[0] = pl_requantize_gate(sums[0] + (bias == NULL ? 0 : *bias), *multiplier, *shift);
    return;
  }
  const mve_pred16_t p = vctp32q((uint32_t)gates);
  int32x4_t x = vldrwq_s32(sums);
  if (bias != NULL) x = vaddq_s32(x, vldrwq_z_s32(bias, p));
  const int32x4_t y = pl_requantize_mve(x, pl_load_factors_mve(multiplier, shift, p));
  const int32x4_t reach = vdupq_n_s32(PL_PART_REACH);
  vstrwq_s32(part, vminq_s32(vmaxq_s32(y, vnegq_s32(reach)), reach));
}

#endif  // KERNELS_RECURRENT_GATES_MVE_H_
