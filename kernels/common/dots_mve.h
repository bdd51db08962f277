// SPDX-License-Identifier: Apache-2.0
// Sums of products of int16 or int8 values and int8 weights fitting 32 bits. Four channels share
// the values.
#ifndef KERNELS_COMMON_DOTS_MVE_H_
#define KERNELS_COMMON_DOTS_MVE_H_

#include <arm_mve.h>

#include "kernels/common/dots_s16.h"
#include "kernels/common/types.h"

#define PL_DOTS_LANES 8

typedef struct {
  const void *x;
  const int8_t *weight0;
  const int8_t *weight1;
  const int8_t *weight2;
  const int8_t *weight3;
  int32_t sum0;
  int32_t sum1;
  int32_t sum2;
  int32_t sum3;
} pl_dots;

PL_INLINE void pl_dots_at(pl_dots *dots, const void *x, const int8_t *weight, pl_dots_steps steps) {
  dots->x = x;
  dots->weight0 = weight;
  dots->weight1 = weight + steps.second;
  dots->weight2 = weight + steps.third;
  dots->weight3 = weight + steps.fourth;
}

// Adds products: VMLADAVA takes eight, or fewer at the end of a run. Written in assembly. For
// intrinsics inside nested loops, GCC makes 14 instructions, with sums in registers not accepted by
// VMLADAVA, and 20 from row to row. This code has 10 and 9.
#define PL_DOTS_ONE(LOAD, STEP, TYPE, CHANNEL) \
  LOAD " q1, [%[w" CHANNEL "]], #" STEP "\n\tvmladava." TYPE " %[sum" CHANNEL "], q0, q1\n\t"
#define PL_DOTS_OF(COUNT, LANES, X_LOAD, LOAD, STEP, TYPE)                                     \
  "dlstp." LANES " lr, %[" COUNT "]\n\t1:\n\t" X_LOAD                                          \
  " q0, [%[x]], #16\n\t" PL_DOTS_ONE(LOAD, STEP, TYPE, "0") PL_DOTS_ONE(LOAD, STEP, TYPE, "1") \
      PL_DOTS_ONE(LOAD, STEP, TYPE, "2") PL_DOTS_ONE(LOAD, STEP, TYPE, "3") "letp lr, 1b\n\t"
#define PL_DOTS_LOOP(COUNT) PL_DOTS_OF(COUNT, "16", "vldrh.u16", "vldrb.s16", "8", "s16")
#define PL_DOTS_LOOP_S8(COUNT) PL_DOTS_OF(COUNT, "8", "vldrb.u8", "vldrb.u8", "16", "s8")
#define PL_DOTS_CHANGED                                                                            \
  [x] "+r"(dots->x), [w0] "+l"(dots->weight0), [w1] "+l"(dots->weight1), [w2] "+l"(dots->weight2), \
      [w3] "+l"(dots->weight3), [sum0] "+Te"(dots->sum0), [sum1] "+Te"(dots->sum1),                \
      [sum2] "+Te"(dots->sum2), [sum3] "+Te"(dots->sum3)

// One run, of at least one.
PL_INLINE void pl_dots_run(pl_dots *dots, int32_t count) {
  __asm__(PL_DOTS_LOOP("count")
          : PL_DOTS_CHANGED
          : [count] "r"(count)
          : "lr", "q0", "q1", "memory");
}

// The same of int8 values, sixteen at a time.
PL_INLINE void pl_dots_run_s8(pl_dots *dots, int32_t count) {
  __asm__(PL_DOTS_LOOP_S8("count")
          : PL_DOTS_CHANGED
          : [count] "r"(count)
          : "lr", "q0", "q1", "memory");
}

// Runs, at least one; assembly knows where the fields lie.
typedef struct {
  int32_t count;
  int32_t skip;         // bytes from the end of a read run, in whole vectors, to the next
  int32_t weight_skip;  // likewise
} pl_dots_runs;
_Static_assert(__builtin_offsetof(pl_dots_runs, count) == 0 &&
                   __builtin_offsetof(pl_dots_runs, skip) == 4 &&
                   __builtin_offsetof(pl_dots_runs, weight_skip) == 8,
               "as in pl_dots_rows");

PL_INLINE void pl_dots_rows(pl_dots *dots, const pl_dots_runs *runs, int32_t rows) {
  int32_t next;
  __asm__("2:\n\tldr %[next], [%[runs]]\n\t" PL_DOTS_LOOP(
              "next") "ldr %[next], [%[runs], #4]\n\tadd %[x], %[next]\n\t"
                      "ldr %[next], [%[runs], #8]\n\tadd %[w0], %[next]\n\t"
                      "add %[w1], %[next]\n\tadd %[w2], %[next]\n\tadd %[w3], %[next]\n\t"
                      "subs %[rows], #1\n\tbne 2b"
          : PL_DOTS_CHANGED, [rows] "+r"(rows), [next] "=&r"(next)
          : [runs] "r"(runs)
          : "lr", "q0", "q1", "cc", "memory");
}

PL_INLINE int32x4_t pl_dots_sums(const pl_dots *dots) {
  int32x4_t sums;
  __asm__("vmov %e0, %1, %2\n\tvmov %f0, %3, %4"  // VMOVs of lanes are twice as many
          : "=&w"(sums)
          : "r"(dots->sum0), "r"(dots->sum1), "r"(dots->sum2), "r"(dots->sum3));
  return sums;
}

// The results, as in wide.h for 32 bits, by bias, multiplier and shift, in [-30, -1], of each of
// the channels.
PL_INLINE int32x4_t pl_dots_result(const pl_dots *dots, const int32_t *factors, int32x4_t minimum,
                                   int32x4_t maximum) {
  int32x4_t y = vaddq_s32(pl_dots_sums(dots), vldrwq_s32(factors));
  y = vmulhq_s32(y, vldrwq_s32(factors + 4));
  y = vrshlq_s32(y, vldrwq_s32(factors + 8));
  return vminq_s32(vmaxq_s32(y, minimum), maximum);
}

#endif  // KERNELS_COMMON_DOTS_MVE_H_
