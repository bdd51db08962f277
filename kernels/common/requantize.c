// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"

int32_t pl_requantize_up(int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t limit = INT32_MAX >> shift;
  const int32_t saturated = x > limit        ? INT32_MAX
                            : x < -limit - 1 ? INT32_MIN
                                             : (int32_t)((uint32_t)x << shift);
  return pl_multiply_high_rounding(saturated, multiplier);
}

// For shift >= 0, which is rare; cut to a range where a zero point may be added.
static __attribute__((noinline)) int32_t requantize_bounded(int32_t x, int32_t multiplier,
                                                            int32_t shift) {
  return pl_clamp(pl_requantize(x, multiplier, shift), -(1 << 30), 1 << 30);
}

// A requantized value with the zero point, before it is clamped.
static inline int32_t requantize_and_move(int32_t x, int32_t multiplier, int32_t shift,
                                          int32_t zero_point) {
  if (shift >= 0) return requantize_bounded(x, multiplier, shift) + zero_point;
  return pl_shift_right_rounding(pl_multiply_high_rounding(x, multiplier), -shift) + zero_point;
}

static void requantize_clamped(const pl_output_stage *stage, int32_t channel, int32_t count,
                               const int32_t *acc, int8_t *output) {
  const int32_t *multiplier = stage->multiplier + channel;
  const int32_t *shift = stage->shift + channel;
  const int32_t zero_point = stage->zero_point;
  const int32_t minimum = stage->activation_min;
  const int32_t maximum = stage->activation_max;
  for (const int8_t *end = output + count; output != end; ++output) {
    const int32_t value = requantize_and_move(*acc++, *multiplier++, *shift++, zero_point);
    *output = (int8_t)pl_clamp(value, minimum, maximum);
  }
}

void pl_requantize_channels(const pl_output_stage *stage, int32_t channel, int32_t count,
                            const int32_t *acc, int8_t *output) {
  // Saturation to the whole range of int8 is one instruction on many cores.
  if (stage->activation_max - stage->activation_min != INT8_MAX - INT8_MIN) {
    requantize_clamped(stage, channel, count, acc, output);
    return;
  }
  const int32_t *multiplier = stage->multiplier + channel;
  const int32_t *shift = stage->shift + channel;
  const int32_t zero_point = stage->zero_point;
  for (const int8_t *end = output + count; output != end; ++output) {
    const int32_t value = requantize_and_move(*acc++, *multiplier++, *shift++, zero_point);
    *output = (int8_t)pl_clamp(value, INT8_MIN, INT8_MAX);
  }
}
