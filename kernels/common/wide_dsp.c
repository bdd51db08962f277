// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/common/wide.h"

static inline int16x2_t load_2(const int16_t *x) {
  int16x2_t pair;
  __builtin_memcpy(&pair, x, 4);
  return pair;
}

// Four products in two SMLALD: SXTB16 gives the first and third weight, and the second and fourth,
// and PKHBT and PKHTB the values that belong to them.
int64_t pl_wide_dot(int64_t sum, const int16_t *x, const int8_t *weight, int32_t count) {
  for (const int16_t *end = x + (count & ~3); x != end; x += 4, weight += 4) {
    const int8x4_t four = pl_load_4(weight);
    const uint32_t low = (uint32_t)load_2(x);
    const uint32_t high = (uint32_t)load_2(x + 2);
    sum = __smlald((int16x2_t)((low & 0xFFFF) | high << 16), pl_even_s16(four), sum);
    sum = __smlald((int16x2_t)(low >> 16 | (high & 0xFFFF0000)), pl_odd_s16(four), sum);
  }
  for (const int16_t *end = x + (count & 3); x != end;) sum += (int64_t)*x++ * *weight++;
  return sum;
}
