// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dsp.h"
#include "kernels/common/wide.h"

// Four products in two SMLALD. SXTB16 extracts the first and third weight, then the second and
// fourth. PKHBT and PKHTB select the matching values.
int64_t pl_wide_dot(int64_t sum, const int16_t *x, const int8_t *weight, int32_t count) {
  for (const int16_t *end = x + (count & ~3); x != end; x += 4, weight += 4) {
    const int8x4_t four = pl_load_4(weight);
    const int16x2_t first = pl_load_2(x);
    const int16x2_t second = pl_load_2(x + 2);
    sum = __smlald((int16x2_t)pl_pack_low(first, second), pl_even_s16(four), sum);
    sum = __smlald((int16x2_t)pl_pack_high(first, second), pl_odd_s16(four), sum);
  }
  for (const int16_t *end = x + (count & 3); x != end;) sum += (int64_t)*x++ * *weight++;
  return sum;
}
