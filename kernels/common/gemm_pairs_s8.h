// SPDX-License-Identifier: Apache-2.0
// Matrix products for cores with the DSP extension (M4, M7, M33), in place of gemm_s8.h where
// kernels/common/gemm_pairs.py finds them exact.
//
// Two int8 weights a and b of two output channels share 16 bits, v = 256 * a + b. SMLAD multiplies
// two such v by two inputs and adds up 256 * A + B; SXTB16 of the same word leaves the two b, whose
// SMLAD adds up B; A = (256 * A + B - B) / 256. So a word of flash is loaded and unpacked once for
// four weights, and it may be read from there at any rate. Exact modulo 2^32 as long as |A| < 2^23
// and every v is in 16 bits.
//
// The inputs are widened to pairs of 16 bits in scratch, once for all channels: a step is a word
// with two of them. Four values of a run are the steps (x0, x2), (x1, x3), as SXTB16 makes them;
// what is left over are the steps (x0, -) or (x0, -), (x1, -) or (x0, x2), (x1, -), where a weight
// of zero stands beside whatever is in -.
#ifndef KERNELS_COMMON_GEMM_PAIRS_S8_H_
#define KERNELS_COMMON_GEMM_PAIRS_S8_H_

#include <stdint.h>

#include "kernels/common/dsp.h"

// Rows that are multiplied together.
#define PL_PAIRS_ROWS 4

typedef struct {
  const int8_t *weight;    // v: int16 [ceil(channels / 2)][steps][2], aligned to 4 bytes
  const int32_t *factors;  // [ceil(channels / 2)][bias a, bias b, multiplier and right of a, of b]
  int32_t steps;           // of a row, even
  int32_t channels;
  int32_t zero_point;
} pl_gemm_pairs_s8;

// y[r * y_stride + o] = saturate(requantize(bias + sum of x * weight) + zero_point) for rows r of
// steps x[step * rows + r] and channels o; a factor is multiplier / 2^31 / 2^(right + 1).
// rows is 1 or PL_PAIRS_ROWS.
typedef void pl_multiply_s8(const pl_gemm_pairs_s8 *layer, int32_t rows, const uint32_t *x,
                            int8_t *y, int32_t y_stride);
pl_multiply_s8 pl_multiply_pairs_s8;

// The same for sums beyond 2^23 and all weights: v has the bytes a and b, and a second SXTB16
// unpacks the a too.
pl_multiply_s8 pl_multiply_wide_pairs_s8;

// Steps of a run of count values.
static inline int32_t pl_steps_of(int32_t count) {
  return count / 4 * 2 + ((count & 3) == 3 ? 2 : count & 3);
}

// Widens a run of count values; its steps are `lanes` words apart. Returns where the next goes.
static inline uint32_t *pl_widen_s8(const int8_t *x, int32_t count, uint32_t *to, int32_t lanes) {
  for (const int8_t *end = x + (count & ~3); x != end;) {
    const int8x4_t four = pl_load_4(x);
    to[0] = (uint32_t)pl_even_s16(four);
    to[lanes] = (uint32_t)pl_odd_s16(four);
    x += 4;
    to += 2 * lanes;
  }
  const int32_t rest = count & 3;
  if (rest == 0) return to;
  if (rest == 3) {
    to[0] = (uint16_t)x[0] | (uint32_t)x[2] << 16;
  } else {
    to[0] = (uint32_t)x[0];
  }
  if (rest == 1) return to + lanes;
  to[lanes] = (uint32_t)x[1];
  return to + 2 * lanes;
}

// The same for four runs, x_stride apart.
static inline uint32_t *pl_widen_4_s8(const int8_t *x, int32_t x_stride, int32_t count,
                                      uint32_t *to) {
  const int8_t *last = x + 3 * x_stride;
  for (const int8_t *end = x + (count & ~3); x != end;) {
    uint32_t a, b, c, d, e, f, g, h;
    // GCC neither keeps to three addresses nor pairs the stores.
    __asm__(
        "ldr %[b], [%[x], %[s]]\n\t"
        "ldr %[c], [%[x], %[s], lsl #1]\n\t"
        "ldr %[a], [%[x]], #4\n\t"
        "ldr %[d], [%[last]], #4\n\t"
        "sxtb16 %[e], %[a]\n\t"
        "sxtb16 %[f], %[b]\n\t"
        "sxtb16 %[g], %[c]\n\t"
        "sxtb16 %[h], %[d]\n\t"
        "strd %[e], %[f], [%[to]], #8\n\t"
        "strd %[g], %[h], [%[to]], #8\n\t"
        "sxtb16 %[a], %[a], ror #8\n\t"
        "sxtb16 %[b], %[b], ror #8\n\t"
        "sxtb16 %[c], %[c], ror #8\n\t"
        "sxtb16 %[d], %[d], ror #8\n\t"
        "strd %[a], %[b], [%[to]], #8\n\t"
        "strd %[c], %[d], [%[to]], #8\n\t"
        : [a] "=&r"(a), [b] "=&r"(b), [c] "=&r"(c), [d] "=&r"(d), [e] "=&r"(e), [f] "=&r"(f),
          [g] "=&r"(g), [h] "=&r"(h), [x] "+r"(x), [last] "+r"(last), [to] "+r"(to)
        : [s] "r"(x_stride)
        : "memory");
  }
  if ((count & 3) == 0) return to;
  uint32_t *end = to;
  for (int32_t lane = 0; lane < PL_PAIRS_ROWS; ++lane) {
    end = pl_widen_s8(x, count & 3, to + lane, PL_PAIRS_ROWS);
    x += x_stride;
  }
  return end - (PL_PAIRS_ROWS - 1);
}

#endif  // KERNELS_COMMON_GEMM_PAIRS_S8_H_
