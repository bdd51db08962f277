// SPDX-License-Identifier: Apache-2.0
// Requantization of an int32 accumulator to int8: TFLite's int8 quantization specification,
// MultiplyByQuantizedMultiplier with double rounding.
//
// A factor is multiplier / 2^31 * 2^shift, with |multiplier| < 2^31 (0 or at least 2^30, except for
// means) and shift in [-31, 30]. If the multiplier is negative, x > INT32_MIN. kernel.py ensures
// this. Then
//   x1 = saturate_int32(x * 2^max(shift, 0))
//   h  = floor((x1 * multiplier + 2^30) / 2^31)     (SQRDMULH; |multiplier| < 2^31: no saturation)
//   y  = h / 2^max(-shift, 0), rounded to nearest, ties away from zero
#ifndef KERNELS_COMMON_REQUANTIZE_H_
#define KERNELS_COMMON_REQUANTIZE_H_

#include <stdint.h>

#include "kernels/common/product_high.h"

#ifdef __ARM_FEATURE_SAT
#include <arm_acle.h>
#endif

// h above.
static inline int32_t pl_multiply_high_rounding(int32_t x, int32_t multiplier) {
  return pl_rounded_product_31(x, multiplier);
}

// h / 2^right, rounded to nearest, ties away from zero; right in [1, 31], |h| < INT32_MAX: at
// INT32_MIN h - 1 overflows. Products above are larger, for |multiplier| < 2^31.
//
// floor((h - [h < 0] + 2^(right-1)) / 2^right) rounds this way. The last bit is divided off in a
// second step, because the sum need not fit in 32 bits.
static inline int32_t pl_shift_right_rounding(int32_t h, int32_t right) {
  return (((h + (h >> 31)) >> (right - 1)) + 1) >> 1;
}

// y for shift > 0, which is rare: a call keeps it out of the fast path.
int32_t pl_requantize_up(int32_t x, int32_t multiplier, int32_t shift);

// y above.
static inline int32_t pl_requantize(int32_t x, int32_t multiplier, int32_t shift) {
  if (shift > 0) return pl_requantize_up(x, multiplier, shift);
  const int32_t high = pl_multiply_high_rounding(x, multiplier);
  return shift == 0 ? high : pl_shift_right_rounding(high, -shift);
}

static inline int32_t pl_clamp(int32_t x, int32_t minimum, int32_t maximum) {
  x = x < minimum ? minimum : x;
  return x > maximum ? maximum : x;
}

// Saturated to a signed integer of so many bits, a constant: SSAT where the core has it.
#ifdef __ARM_FEATURE_SAT
#define PL_SATURATE(x, bits) __ssat(x, bits)
#else
#define PL_SATURATE(x, bits) pl_clamp(x, -(1 << ((bits) - 1)), (1 << ((bits) - 1)) - 1)
#endif

// clamp(x + zero_point, minimum, maximum), for any x.
static inline int8_t pl_narrow(int32_t x, int32_t zero_point, int32_t minimum, int32_t maximum) {
  return (int8_t)(pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point);
}

// requantize(sum) + zero_point for factors multiplier / 2^31 / 2^(right + 1), right in [0, 19], and
// |sum| < 2^30, in one product.
//
// The accumulator's upper word starts with the zero point and the rounding half, (2 * zero_point +
// 1) * half with half = 2^right. The product is added to it. Shifted by right + 1, it is the result
// except for ties of a negative h. Those go up. Therefore one is subtracted if the sum is negative.
// If h is 0 in that case, the subtraction has no effect.
static inline int32_t pl_requantize_down(int32_t sum, int32_t multiplier, int32_t right,
                                         int32_t twice_zero_point_and_1) {
  const int32_t start = twice_zero_point_and_1 * (1 << right) + (sum >> 31);
  return pl_add_rounded_product_high(start, sum * 2, multiplier) >> right >> 1;
}

// The last stage of a layer with a factor for each output channel.
typedef struct {
  const int32_t *multiplier;  // [channels], or, without shift, [channels][multiplier, right]
  const int32_t *shift;       // [channels], or NULL where pl_requantize_down is exact
  int32_t zero_point;
  int32_t activation_min;
  int32_t activation_max;
} pl_output_stage;

// Moves the addresses of the factors past some channels.
static inline void pl_skip_channels(pl_output_stage *stage, int32_t channels) {
  if (stage->shift) {
    stage->multiplier += channels;
    stage->shift += channels;
  } else {
    stage->multiplier += 2 * channels;
  }
}

// output[i] = clamp(requantize(acc[i]) + zero_point) with the factors of channel + i, for i in
// [0, count).
void pl_requantize_channels(const pl_output_stage *stage, int32_t channel, int32_t count,
                            const int32_t *acc, int8_t *output);

#endif  // KERNELS_COMMON_REQUANTIZE_H_
