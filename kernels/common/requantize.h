// SPDX-License-Identifier: Apache-2.0
// From an int32 accumulator to int8: TFLite's int8 quantization specification,
// MultiplyByQuantizedMultiplier with double rounding.
//
// A factor is multiplier / 2^31 * 2^shift, with |multiplier| < 2^31 (0 or at least 2^30, but for
// means), shift in [-31, 30], and x > INT32_MIN where the multiplier is negative; kernel.py sees to
// it. Then
//   x1 = saturate_int32(x * 2^max(shift, 0))
//   h  = floor((x1 * multiplier + 2^30) / 2^31)     (SQRDMULH; |multiplier| < 2^31: no saturation)
//   y  = h / 2^max(-shift, 0), rounded to nearest, ties away from zero
#ifndef KERNELS_COMMON_REQUANTIZE_H_
#define KERNELS_COMMON_REQUANTIZE_H_

#include <stdint.h>

// h above.
static inline int32_t pl_multiply_high_rounding(int32_t x, int32_t multiplier) {
  return (int32_t)(((int64_t)x * multiplier + (1 << 30)) >> 31);
}

// h / 2^right, rounded to nearest, ties away from zero; right in [1, 31], |h| < INT32_MAX or h < 0.
// floor((h - [h < 0] + 2^(right-1)) / 2^right) rounds so; the last bit is divided off in a second
// step because the sum need not fit in 32 bits.
static inline int32_t pl_shift_right_rounding(int32_t h, int32_t right) {
  return (((h + (h >> 31)) >> (right - 1)) + 1) >> 1;
}

// y for shift > 0, which is rare: a call keeps it out of the way.
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

// clamp(x + zero_point, minimum, maximum), for any x.
static inline int8_t pl_narrow(int32_t x, int32_t zero_point, int32_t minimum, int32_t maximum) {
  return (int8_t)(pl_clamp(x, minimum - zero_point, maximum - zero_point) + zero_point);
}

// The last stage of a layer with a factor for each output channel.
typedef struct {
  const int32_t *multiplier;  // [channels]
  const int32_t *shift;       // [channels]
  int32_t zero_point;
  int32_t activation_min;
  int32_t activation_max;
} pl_output_stage;

// output[i] = clamp(requantize(acc[i]) + zero_point) with the factors of channel + i, for i in
// [0, count).
void pl_requantize_channels(const pl_output_stage *stage, int32_t channel, int32_t count,
                            const int32_t *acc, int8_t *output);

#endif  // KERNELS_COMMON_REQUANTIZE_H_
