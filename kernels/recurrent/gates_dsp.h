// SPDX-License-Identifier: Apache-2.0
#ifndef KERNELS_RECURRENT_GATES_DSP_H_
#define KERNELS_RECURRENT_GATES_DSP_H_

#include "kernels/common/dsp.h"
#include "kernels/recurrent/gates_one_by_one.h"

#define PL_GATE_FOUR 4  // inputs

// Four products: SXTB16 makes pairs of the first and third weight, and of the others.
static inline int32_t pl_four_products(int16x2_t first, int16x2_t second, const int8_t *weight,
                                       int32_t sum) {
  const int8x4_t four = pl_load_4(weight);
  return __smlad(second, pl_odd_s16(four), __smlad(first, pl_even_s16(four), sum));
}

// weight: [count / 4, gates, 4], then [count % 4, gates]. A wide input has neighbours as pairs. Its
// second and third of four weights are swapped.
PL_INLINE void pl_add_gate_sums(const void *input, bool wide, int32_t count, const int8_t *weight,
                                int32_t gates, int32_t *sums) {
  const int32_t four_bytes = wide ? 2 * PL_GATE_FOUR : PL_GATE_FOUR;
  const int8_t *x = input;
  int32_t sum0 = sums[0];
  int32_t sum1 = sums[1];
  int32_t sum2 = sums[2];
  int32_t sum3 = sums[3];
  for (const int8_t *end = x + count / PL_GATE_FOUR * four_bytes; x != end; x += four_bytes) {
    int16x2_t first, second;
    if (wide) {
      __builtin_memcpy(&first, x, sizeof(first));
      __builtin_memcpy(&second, x + sizeof(first), sizeof(second));
    } else {
      const int8x4_t four = pl_load_4(x);
      first = pl_even_s16(four);
      second = pl_odd_s16(four);
    }
    sum0 = pl_four_products(first, second, weight, sum0);
    if (gates > 1) sum1 = pl_four_products(first, second, weight + PL_GATE_FOUR, sum1);
    if (gates > 2) sum2 = pl_four_products(first, second, weight + 2 * PL_GATE_FOUR, sum2);
    if (gates > 3) sum3 = pl_four_products(first, second, weight + 3 * PL_GATE_FOUR, sum3);
    weight += PL_GATE_FOUR * gates;
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
  pl_add_gate_products(x, wide, count % PL_GATE_FOUR, weight, gates, sums);
}

#endif  // KERNELS_RECURRENT_GATES_DSP_H_
