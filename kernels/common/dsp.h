// SPDX-License-Identifier: Apache-2.0
// The DSP extension on int8 and int16 (M4, M7, M33).
#ifndef KERNELS_COMMON_DSP_H_
#define KERNELS_COMMON_DSP_H_

#include <arm_acle.h>
#include <stdint.h>

// Four int8 at any address, the first in the lowest byte.
static inline int8x4_t pl_load_4(const int8_t *x) {
  int8x4_t four;
  __builtin_memcpy(&four, x, 4);
  return four;
}

// Two int16 at any address, the first in the low half.
static inline int16x2_t pl_load_2(const int16_t *x) {
  int16x2_t two;
  __builtin_memcpy(&two, x, 4);
  return two;
}

// The first and third of four int8 as int16.
static inline int16x2_t pl_even_s16(int8x4_t four) { return __sxtb16(four); }

// The second and fourth. (GCC would rotate the word in a separate instruction.)
static inline int16x2_t pl_odd_s16(int8x4_t four) {
  int16x2_t pair;
  __asm__("sxtb16 %0, %1, ror #8" : "=r"(pair) : "r"(four));
  return pair;
}

// Two words' low halves as one word, the first in its low half. (GCC would take UXTH and ORR.)
static inline uint32_t pl_pack_low(int16x2_t a, int16x2_t b) {
  uint32_t packed;
  __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(packed) : "r"(a), "r"(b));
  return packed;
}

// Their high halves, the first in the low half.
static inline uint32_t pl_pack_high(int16x2_t a, int16x2_t b) {
  uint32_t packed;
  __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(packed) : "r"(b), "r"(a));
  return packed;
}

// Two int16 as a word.
static inline uint32_t pl_two_s16(int16_t a, int16_t b) {
  return pl_pack_low((int16x2_t)a, (int16x2_t)b);
}

// Adds the first and third of four int8 to the halves of a word; the other function, the second and
// fourth.
static inline int16x2_t pl_add_even_s16(int16x2_t sums, int8x4_t four) {
  return __sxtab16(sums, four);
}
static inline int16x2_t pl_add_odd_s16(int16x2_t sums, int8x4_t four) {
  __asm__("sxtab16 %0, %0, %1, ror #8" : "+r"(sums) : "r"(four));
  return sums;
}

// SSUB8 sets four flags for the bytes of a that are not less than b. SEL selects by them.
static inline int8x4_t pl_larger_4_s8(int8x4_t a, int8x4_t b) {
  (void)__ssub8(a, b);
  return (int8x4_t)__sel((uint8x4_t)a, (uint8x4_t)b);
}
static inline int8x4_t pl_smaller_4_s8(int8x4_t a, int8x4_t b) {
  (void)__ssub8(a, b);
  return (int8x4_t)__sel((uint8x4_t)b, (uint8x4_t)a);
}

// The bytes of a where those of the mask are not 0, else of b. USUB8 sets the flags of bytes at
// least 1.
static inline uint32_t pl_choose_4(uint32_t mask, uint32_t a, uint32_t b) {
  (void)__usub8(mask, 0x01010101U);
  return __sel(a, b);
}

// start + x * multiplier / 2^32, rounded to nearest, ties up. From C, GCC does not make SMMLAR, but
// SMLAL after a MOV of the rounding half.
static inline int32_t pl_add_product_high(int32_t start, int32_t x, int32_t multiplier) {
  __asm__("smmlar %0, %1, %2, %0" : "+r"(start) : "r"(x), "r"(multiplier));
  return start;
}

// saturate(requantize(sum) + zero_point) for factors multiplier / 2^31 / 2^(right + 1), right in
// [0, 19], and |sum| < 2^30, given twice the sum: requantize.h in few instructions.
//
// SMMLAR adds the zero point and the rounding half, (2 * zero_point + 1) * half with half =
// 2^right, to h. Shifted by right and, in SSAT, by one, the sum is the result except for ties of a
// negative h. Those go up. Therefore one is subtracted if the sum is negative. If h is 0 in that
// case, the subtraction has no effect. (Neither has the tie if the zero point is -128, because
// everything below saturates.)
static inline int8_t pl_narrow_dsp(int32_t twice_sum, int32_t multiplier, int32_t right,
                                   int32_t twice_zero_point_and_1) {
  int32_t start;
  __asm__("add %0, %1, %2, asr #31"  // GCC would take SBFX and ADD where it sees the sum
          : "=r"(start)
          : "r"(twice_zero_point_and_1 * (1 << right)), "r"(twice_sum));
  const int32_t h = pl_add_product_high(start, twice_sum, multiplier);
  return (int8_t)__ssat((h >> right) >> 1, 8);
}

#endif  // KERNELS_COMMON_DSP_H_
