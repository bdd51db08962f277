// SPDX-License-Identifier: Apache-2.0
// Division of four lanes by one number, because Helium has no such instruction.
#ifndef KERNELS_COMMON_DIVIDE_MVE_H_
#define KERNELS_COMMON_DIVIDE_MVE_H_

#include <arm_mve.h>

typedef struct {
  uint32_t divisor;
  uint32_t reciprocal;
} pl_divisor_mve;

// The divisor is at least 1.
static inline pl_divisor_mve pl_divisor_of(uint32_t divisor) {
  return (pl_divisor_mve){divisor, UINT32_MAX / divisor};
}

// floor(x / divisor) for any x. The reciprocal is at most one below 2^32 / divisor, and x is below
// 2^32. The product's high half is therefore the quotient or one less, and the remainder shows the
// difference. (No comparison: with one, GCC would not make a tail-predicated loop.)
static inline uint32x4_t pl_divide_mve(uint32x4_t x, pl_divisor_mve by) {
  const uint32x4_t quotient = vmulhq_u32(x, vdupq_n_u32(by.reciprocal));
  const uint32x4_t rest = vmlaq_n_u32(x, quotient, 0U - by.divisor);
  const uint32x4_t beyond = vqsubq_n_u32(rest, by.divisor - 1);
  return vaddq_u32(quotient, vminq_u32(beyond, vdupq_n_u32(1)));
}

// x / divisor rounded to nearest, ties away from zero; |x| + divisor / 2 is an int32.
static inline int32x4_t pl_divide_rounding_mve(int32x4_t x, pl_divisor_mve by) {
  const int32x4_t sign = vshrq_n_s32(x, 31);
  const int32x4_t n = vaddq_n_s32(vabsq_s32(x), (int32_t)(by.divisor / 2));
  const int32x4_t quotient = vreinterpretq_s32_u32(pl_divide_mve(vreinterpretq_u32_s32(n), by));
  return vsubq_s32(veorq_s32(quotient, sign), sign);
}

#endif  // KERNELS_COMMON_DIVIDE_MVE_H_
