// SPDX-License-Identifier: Apache-2.0
// Averages of 16-bit sums: division by one number, because Helium has no such instruction.
#ifndef KERNELS_COMMON_AVERAGE_MVE_H_
#define KERNELS_COMMON_AVERAGE_MVE_H_

#include <arm_mve.h>

// Divides x by a d of 2 to 255, ties away from zero, for a result in int8. n = x + 128 * d + d / 2
// is not negative, and floor(n / d) - 128 is nearest. Ties of a negative x must go down: n is then
// less by 1.
//   floor(n / d) = floor((n + again) * reciprocal / 2^(16 + right)),
//   n + again < 2^16.
// Here 2^right < d <= 2^(right+1). The reciprocal 2^(16 + right) / d is rounded up. If it is then
// more than 2^right / d too large, it is rounded down, with again = 1.
typedef struct {
  uint16_t start;        // n + again, minus x; with ties that of a negative x
  uint16_t not_below_0;  // the least start + x for x >= 0, with ties, else more than any
  uint16_t reciprocal;
  int32_t shift;  // -right
} pl_average_mve;

// `offset` is added to the dividend.
static inline pl_average_mve pl_average_of(int32_t d, int32_t offset) {
  const int32_t right = 31 - __builtin_clz((uint32_t)d - 1);
  const uint32_t whole = UINT32_C(1) << (16 + right);
  const uint32_t rest = whole % (uint32_t)d;
  const uint32_t again = rest > 0 && (uint32_t)d - rest > UINT32_C(1) << right;
  const uint32_t up = rest > 0 && again == 0;
  const int32_t ties = d % 2 == 0;
  const int32_t zero = -INT8_MIN * d + d / 2 + (int32_t)again - ties;
  return (pl_average_mve){
      .start = (uint16_t)(zero + offset),
      .not_below_0 = (uint16_t)(ties ? zero : UINT16_MAX),
      .reciprocal = (uint16_t)(whole / (uint32_t)d + up),
      .shift = -right,
  };
}

// Average for x + start.
static inline int16x8_t pl_average(uint16x8_t n, pl_average_mve by) {
  n = vaddq_m_n_u16(n, n, 1, vcmpcsq_n_u16(n, by.not_below_0));
  const uint16x8_t high = vmulhq_u16(n, vdupq_n_u16(by.reciprocal));
  return vsubq_n_s16(vreinterpretq_s16_u16(vshlq_r_u16(high, by.shift)), -INT8_MIN);
}

#endif  // KERNELS_COMMON_AVERAGE_MVE_H_
