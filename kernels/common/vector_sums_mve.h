// SPDX-License-Identifier: Apache-2.0
// Sums of values that lie `step` bytes apart, for adjacent positions: up to three vectors at a
// time. The last vector may overlap the one before it.
#ifndef KERNELS_COMMON_VECTOR_SUMS_MVE_H_
#define KERNELS_COMMON_VECTOR_SUMS_MVE_H_

#include <arm_mve.h>

#include "kernels/common/types.h"

#define PL_SUM_LANES 8
#define PL_SUM_VECTORS 3

// Adds values that are `step` apart. Written in assembly: GCC keeps more addresses than needed, and
// uses post-increment instead of offsets.
#define PL_SUM_LOOPS(TAP)         \
  "wls lr, %[fours], 2f\n\t"      \
  "1:\n\t" TAP TAP TAP TAP        \
  "le lr, 1b\n\t"                 \
  "2:\n\twls lr, %[more], 4f\n\t" \
  "3:\n\t" TAP                    \
  "le lr, 3b\n\t"                 \
  "4:\n\t"
#define PL_SUM_COUNTS [step] "r"(step), [fours] "r"(taps >> 2), [more] "r"(taps & 3)

#define PL_ADD_2                                                             \
  "vldrb.s16 q4, [%[x]]\n\tvldrb.s16 q5, [%[last]]\n\tadd %[x], %[step]\n\t" \
  "vadd.i16 q0, q0, q4\n\tadd %[last], %[step]\n\tvadd.i16 q1, q1, q5\n\t"
#define PL_ADD_3                                                               \
  "vldrb.s16 q4, [%[x]]\n\tvldrb.s16 q5, [%[last]]\n\tvadd.i16 q0, q0, q4\n\t" \
  "vldrb.s16 q4, [%[x], #8]\n\tvadd.i16 q2, q2, q5\n\tadd %[x], %[step]\n\t"   \
  "add %[last], %[step]\n\tvadd.i16 q1, q1, q4\n\t"

// Up to eight neighbours.
static inline int16x8_t pl_sum_of_some(const int8_t *x, mve_pred16_t lanes, int32_t step,
                                       int32_t taps) {
  int16x8_t sum = vdupq_n_s16(0);
  for (; taps > 0; --taps, x += step) sum = vaddq_s16(sum, vldrbq_z_s16(x, lanes));
  return sum;
}

// All vectors but the last are at x; the last is at `last`.
static inline void pl_sums_of_2(const int8_t *x, const int8_t *last, int32_t step, int32_t taps,
                                int16x8_t all[PL_SUM_VECTORS]) {
  register int16x8_t sum0 __asm__("q0") = vdupq_n_s16(0);
  register int16x8_t sum1 __asm__("q1") = vdupq_n_s16(0);
  __asm__ volatile(PL_SUM_LOOPS(PL_ADD_2)
                   : [x] "+l"(x), [last] "+l"(last), "+w"(sum0), "+w"(sum1)
                   : PL_SUM_COUNTS
                   : "lr", "q4", "q5", "cc", "memory");
  all[0] = sum0;
  all[1] = sum1;
}

static inline void pl_sums_of_3(const int8_t *x, const int8_t *last, int32_t step, int32_t taps,
                                int16x8_t all[PL_SUM_VECTORS]) {
  register int16x8_t sum0 __asm__("q0") = vdupq_n_s16(0);
  register int16x8_t sum1 __asm__("q1") = vdupq_n_s16(0);
  register int16x8_t sum2 __asm__("q2") = vdupq_n_s16(0);
  __asm__ volatile(PL_SUM_LOOPS(PL_ADD_3)
                   : [x] "+l"(x), [last] "+l"(last), "+w"(sum0), "+w"(sum1), "+w"(sum2)
                   : PL_SUM_COUNTS
                   : "lr", "q4", "q5", "cc", "memory");
  all[0] = sum0;
  all[1] = sum1;
  all[2] = sum2;
}

// Converts sums to int8, in the low bytes.
typedef int16x8_t pl_of_sums(const void *op, int16x8_t sums);

// All of `channels` neighbours, at most 255 values of each: sums have 16 bits. `of` is a constant
// where this is inlined.
PL_INLINE void pl_sum_vectors(const int8_t *x, int32_t channels, int32_t step, int32_t taps,
                              pl_of_sums *of, const void *op, int8_t *output) {
  while (channels > PL_SUM_LANES) {
    const int32_t most = PL_SUM_VECTORS * PL_SUM_LANES;
    const int32_t count = channels < most ? channels : most;
    const int32_t last = count - PL_SUM_LANES;
    int16x8_t all[PL_SUM_VECTORS];
    if (last <= PL_SUM_LANES) {
      pl_sums_of_2(x, x + last, step, taps, all);
      vstrbq_s16(output + last, of(op, all[1]));
    } else {
      pl_sums_of_3(x, x + last, step, taps, all);
      vstrbq_s16(output + PL_SUM_LANES, of(op, all[1]));
      vstrbq_s16(output + last, of(op, all[2]));
    }
    vstrbq_s16(output, of(op, all[0]));
    x += count;
    output += count;
    channels -= count;
  }
  if (channels > 0) {
    const mve_pred16_t lanes = vctp16q((uint32_t)channels);
    vstrbq_p_s16(output, of(op, pl_sum_of_some(x, lanes, step, taps)), lanes);
  }
}

#endif  // KERNELS_COMMON_VECTOR_SUMS_MVE_H_
