// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/requantize.h"

#include "kernels/common/types.h"

int32_t pl_requantize_up(int32_t x, int32_t multiplier, int32_t shift) {
  const int32_t limit = INT32_MAX >> shift;
  const int32_t saturated = x > limit        ? INT32_MAX
                            : x < -limit - 1 ? INT32_MIN
                                             : (int32_t)((uint32_t)x << shift);
  return pl_multiply_high_rounding(saturated, multiplier);
}

// For shift >= 0, a rare case; clamped to a range with room for a zero point.
static __attribute__((noinline)) int32_t requantize_bounded(int32_t x, int32_t multiplier,
                                                            int32_t shift) {
  return pl_clamp(pl_requantize(x, multiplier, shift), -(1 << 30), 1 << 30);
}

// Minimum and maximum are constants where this is inlined with the whole range: there saturation is
// one instruction on many cores.
PL_INLINE void requantize_to(const pl_output_stage *stage, int32_t minimum, int32_t maximum,
                             int32_t channel, int32_t count, const int32_t *acc, int8_t *output) {
  const int32_t *multiplier = stage->multiplier + channel;
  const int32_t *shift = stage->shift + channel;
  const int32_t zero_point = stage->zero_point;
  for (const int8_t *end = output + count; output != end; ++output) {
    const int32_t x = *acc++;
    const int32_t m = *multiplier++;
    const int32_t s = *shift++;
    const int32_t value = s < 0 ? pl_shift_right_rounding(pl_multiply_high_rounding(x, m), -s)
                                : requantize_bounded(x, m, s);
    *output = (int8_t)pl_clamp(value + zero_point, minimum, maximum);
  }
}

// The same where all factors divide, see pl_requantize_down.
PL_INLINE void requantize_down_to(const pl_output_stage *stage, int32_t minimum, int32_t maximum,
                                  int32_t channel, int32_t count, const int32_t *acc,
                                  int8_t *output) {
  const int32_t *factors = stage->multiplier + 2 * channel;
  const int32_t twice_zero_point_and_1 = 2 * stage->zero_point + 1;
  for (const int8_t *end = output + count; output != end; ++output) {
    const int32_t value =
        pl_requantize_down(*acc++, factors[0], factors[1], twice_zero_point_and_1);
    *output = (int8_t)pl_clamp(value, minimum, maximum);
    factors += 2;
  }
}

void pl_requantize_channels(const pl_output_stage *stage, int32_t channel, int32_t count,
                            const int32_t *acc, int8_t *output) {
  const int32_t minimum = stage->activation_min;
  const int32_t maximum = stage->activation_max;
  const int is_whole = maximum - minimum == INT8_MAX - INT8_MIN;
  if (stage->shift) {
    if (is_whole) {
      requantize_to(stage, INT8_MIN, INT8_MAX, channel, count, acc, output);
    } else {
      requantize_to(stage, minimum, maximum, channel, count, acc, output);
    }
  } else if (is_whole) {
    requantize_down_to(stage, INT8_MIN, INT8_MAX, channel, count, acc, output);
  } else {
    requantize_down_to(stage, minimum, maximum, channel, count, acc, output);
  }
}
