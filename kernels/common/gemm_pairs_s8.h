// SPDX-License-Identifier: Apache-2.0
// Matrix products for cores with the DSP extension (M4, M7, M33), in place of gemm_s8.h if
// kernels/common/gemm_pairs.py finds them exact.
//
// Two int8 weights a and b of two output channels share 16 bits, v = 256 * a + b. SMLAD multiplies
// two such v by two inputs and accumulates 256 * A + B. SXTB16 of the same word leaves the two b,
// and their SMLAD accumulates B. Then A = (256 * A + B - B) / 256. A word of flash is therefore
// loaded and unpacked once for four weights, which relaxes the required flash speed. The result is
// exact modulo 2^32 if |A| < 2^23 and every v fits 16 bits.
//
// The inputs are widened to pairs of 16 bits in scratch, once for all channels: a step is a word
// with two of them. A row is one or more runs of values. Four values of a run are the steps (x0,
// x2), (x1, x3), the order of SXTB16. After those of all runs, two values left over in each run are
// the step (x0, x1). If runs are odd, the last values of all of them follow, by twos. An unused
// half of a step has weight zero.
#ifndef KERNELS_COMMON_GEMM_PAIRS_S8_H_
#define KERNELS_COMMON_GEMM_PAIRS_S8_H_

#include <stdint.h>

#include "kernels/common/dsp.h"

// Rows multiplied together.
#define PL_PAIRS_ROWS 4

// The first eight fields are in the load order of the four-row multiplication.
typedef struct {
  int32_t twice_zero_point_and_1;
  const int32_t
      *factors;      // of pairs: start of A (of 256 * A + B), of B; multiplier and right of a, of b
  int32_t first;     // steps before the groups of sixteen, without the very first: 1 to 16
  int32_t y_stride;  // from row to row
  const int32_t *factors_end;  // of pairs, without a last channel that has no partner
  const uint32_t *x;           // the rows' steps
  const uint32_t *x_end;       // of four rows
  const int8_t *weight;        // v: int16 [ceil(channels / 2)][steps][2], aligned to 4 bytes
  int32_t channels;
} pl_gemm_pairs_s8;

// y[r * y_stride + o] = saturate(requantize(bias + sum of x * weight) + zero_point) for rows r of
// steps x[step * rows + r] and channels o. A factor is multiplier / 2^31 / 2^(right + 1). rows is 1
// or PL_PAIRS_ROWS.
typedef void pl_multiply_s8(const pl_gemm_pairs_s8 *layer, int32_t rows, int8_t *y);
pl_multiply_s8 pl_multiply_pairs_s8;

// The same for sums beyond 2^23 and all weights: v has the bytes a and b, and a second SXTB16
// unpacks the a too.
pl_multiply_s8 pl_multiply_wide_pairs_s8;

// y[0] of one row and a channel without a partner, the first of the layer. weight is int16 [steps].
// factors begin with the start of A, not 256 times that.
void pl_multiply_alone_s8(const pl_gemm_pairs_s8 *layer, int8_t *y);

// Assembly: multiplies a word V of weights by the step X. Adds to the sums [p] of 256 * A + B, or
// of A, and [l] of B. The second macro overwrites r9.
#define PL_PRODUCTS(V, X) \
  "smlad %[p], " V ", " X ", %[p]\n\tsxtb16 " V ", " V "\n\tsmlad %[l], " V ", " X ", %[l]\n\t"
#define PL_PRODUCTS_WIDE(V, X)                                            \
  "sxtb16 r9, " V "\n\tsxtb16 " V ", " V ", ror #8\n\tsmlad %[l], r9, " X \
  ", %[l]\n\t"                                                            \
  "smlad %[p], " V ", " X ", %[p]\n\t"

// For a channel without a partner, with int16 weights and the sum A.
#define PL_PRODUCT_ALONE(V, X) "smlad %[p], " V ", " X ", %[p]\n\t"

// Steps of a row of depth values, even.
static inline int32_t pl_steps_of(int32_t depth) { return (depth + 3) / 4 * 2; }

static inline pl_gemm_pairs_s8 pl_gemm_pairs(const int8_t *weight, const int32_t *factors,
                                             int32_t depth, int32_t channels, int32_t zero_point,
                                             const uint32_t *x, int32_t y_stride) {
  const int32_t steps = pl_steps_of(depth);
  return (pl_gemm_pairs_s8){
      .factors = factors,
      .y_stride = y_stride,
      .factors_end = factors + 6 * (channels / 2),
      .x = x,
      .x_end = x + PL_PAIRS_ROWS * steps,
      .twice_zero_point_and_1 = 2 * zero_point + 1,
      .first = ((steps - 2) & 15) + 1,
      .weight = weight,
      .channels = channels,
  };
}

// Widens a row of runs of count values, run_step apart; its steps are `lanes` words apart.
void pl_widen_s8(const int8_t *x, int32_t runs, int32_t run_step, int32_t count, uint32_t *to,
                 int32_t lanes);

// The same for four rows, x_stride apart.
void pl_widen_4_s8(const int8_t *x, int32_t x_stride, int32_t runs, int32_t run_step, int32_t count,
                   uint32_t *to);

// The fours of values of four rows, x_stride apart, up to `end` in the first. Returns where the
// next step goes.
static inline uint32_t *pl_widen_fours_s8(const int8_t *x, int32_t x_stride, const int8_t *end,
                                          uint32_t *to) {
  const int8_t *fourth = x + 3 * x_stride;
  while (x != end) {
    uint32_t a, b, c, d, e;
    // GCC neither keeps to three addresses nor pairs the stores.
    __asm__(
        "ldr %[b], [%[x], %[s]]\n\t"
        "ldr %[e], [%[x], %[s], lsl #1]\n\t"
        "ldr %[a], [%[x]], #4\n\t"
        "sxtb16 %[d], %[b]\n\t"
        "sxtb16 %[c], %[a]\n\t"
        "sxtb16 %[b], %[b], ror #8\n\t"
        "sxtb16 %[a], %[a], ror #8\n\t"
        "strd %[c], %[d], [%[to]], #16\n\t"
        "ldr %[d], [%[fourth]], #4\n\t"
        "strd %[a], %[b], [%[to]], #-8\n\t"
        "sxtb16 %[a], %[e]\n\t"
        "sxtb16 %[b], %[d]\n\t"
        "sxtb16 %[c], %[e], ror #8\n\t"
        "sxtb16 %[d], %[d], ror #8\n\t"
        "strd %[a], %[b], [%[to]], #16\n\t"
        "strd %[c], %[d], [%[to]], #8\n\t"
        : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [e] "=&r"(e), [x] "+r"(x),
          [fourth] "+r"(fourth), [to] "+r"(to)
        : [s] "r"(x_stride)
        : "memory");
  }
  return to;
}

// pl_widen_s8 for whole rows.
static inline void pl_widen_row_s8(const int8_t *x, int32_t depth, uint32_t *to) {
  for (const int8_t *end = x + (depth & ~15); x != end;) {
    // GCC makes no STM of eight. Loads are one by one, as x may be anywhere.
    __asm__ volatile(
        "ldr r0, [%[x]], #4\n\tldr r2, [%[x]], #4\n\tldr r4, [%[x]], #4\n\tldr r6, [%[x]], #4\n\t"
        "sxtb16 r1, r0, ror #8\n\tsxtb16 r0, r0\n\tsxtb16 r3, r2, ror #8\n\tsxtb16 r2, r2\n\t"
        "sxtb16 r5, r4, ror #8\n\tsxtb16 r4, r4\n\tsxtb16 r8, r6, ror #8\n\tsxtb16 r6, r6\n\t"
        "stm %[to]!, {r0-r6, r8}\n\t"
        : [x] "+r"(x), [to] "+r"(to)
        :
        : "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r8", "memory");
  }
  if ((depth & 15) != 0) pl_widen_s8(x, 1, 0, depth & 15, to, 1);
}

// pl_widen_4_s8 for whole rows, one after another.
static inline void pl_widen_row_4_s8(const int8_t *x, int32_t depth, uint32_t *to) {
  const int8_t *rest = x + (depth & ~3);
  to = pl_widen_fours_s8(x, depth, rest, to);
  if ((depth & 3) != 0) pl_widen_4_s8(rest, depth, 1, 0, depth & 3, to);
}

#endif  // KERNELS_COMMON_GEMM_PAIRS_S8_H_
