// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/dots_by_runs.h"
#include "kernels/common/dsp.h"

#define FOUR 4  // values

// Four products. In assembly: of intrinsics GCC loads the weights of all channels first, and has no
// registers left for the sums.
static inline int32_t add_four(int32_t sum, int16x2_t even, int16x2_t odd, const int8_t *weight,
                               int32_t step) {
  int8x4_t four;
  int16x2_t pair;
  __asm__(
      "ldr %[four], [%[weight], %[step]]\n\tsxtb16 %[pair], %[four]\n\t"
      "sxtb16 %[four], %[four], ror #8\n\tsmlad %[sum], %[even], %[pair], %[sum]\n\t"
      "smlad %[sum], %[odd], %[four], %[sum]"
      : [sum] "+r"(sum), [four] "=&r"(four), [pair] "=&r"(pair)
      : [even] "r"(even), [odd] "r"(odd), [weight] "r"(weight), [step] "r"(step),
        "m"(*(const int8_t (*)[FOUR])(weight + step)));
  return sum;
}

// SXTB16 makes pairs of the first and third weight, and of the others: the values are paired so,
// for all channels.
static inline pl_dots_sums add_run(pl_dots_sums sums, const int16_t *x, const int8_t *weight,
                                   pl_dots_steps steps, int32_t count) {
  for (const int16_t *end = x + count / FOUR * FOUR; x != end; x += FOUR, weight += FOUR) {
    const int16x2_t first = pl_load_2(x);
    const int16x2_t second = pl_load_2(x + 2);
    const int16x2_t even = (int16x2_t)pl_pack_low(first, second);
    const int16x2_t odd = (int16x2_t)pl_pack_high(first, second);
    sums.of0 = add_four(sums.of0, even, odd, weight, 0);
    sums.of1 = add_four(sums.of1, even, odd, weight, steps.second);
    sums.of2 = add_four(sums.of2, even, odd, weight, steps.third);
    sums.of3 = add_four(sums.of3, even, odd, weight, steps.fourth);
  }
  return pl_dots_one_by_one(sums, x, weight, steps, count % FOUR);
}

void pl_dots_s16(const pl_dots_window *of, const int16_t *x, const int8_t *weight,
                 const int32_t *factors, int16_t *output) {
  pl_dots_by_runs(of, x, weight, factors, output, add_run);
}
