// SPDX-License-Identifier: Apache-2.0
// Inline functions of kernels/common as functions of their own, for proofs on their machine code.
#include "kernels/common/gemm_taps_s8.h"
#include "kernels/common/narrow_down.h"
#include "kernels/common/requantize.h"

typedef int32_t function(int32_t a, int32_t b, int32_t c, int32_t d);

static int32_t requantize(int32_t x, int32_t multiplier, int32_t shift, int32_t unused) {
  (void)unused;
  return pl_requantize(x, multiplier, shift);
}

static int32_t shift_right_rounding(int32_t h, int32_t right, int32_t unused, int32_t unused_too) {
  (void)unused;
  (void)unused_too;
  return pl_shift_right_rounding(h, right);
}

static int32_t narrow(int32_t x, int32_t zero_point, int32_t minimum, int32_t maximum) {
  return pl_narrow(x, zero_point, minimum, maximum);
}

static int32_t requantize_down(int32_t sum, int32_t multiplier, int32_t right,
                               int32_t twice_zero_point_and_1) {
  return pl_requantize_down(sum, multiplier, right, twice_zero_point_and_1);
}

static int32_t narrow_down(int32_t sum, int32_t multiplier, int32_t right,
                           int32_t twice_zero_point_and_1) {
  return pl_narrow_down(sum, multiplier, right, twice_zero_point_and_1);
}

// The linker keeps them for this table.
static function *const volatile kFunctions[] = {
    requantize, shift_right_rounding, narrow, requantize_down, narrow_down,
};

#if __ARM_ARCH_ISA_THUMB == 1
static pl_multiply_taps *const volatile kTaps[] = {
    pl_multiply_taps_s8,
    pl_multiply_signed_taps_s8,
};
#endif

int main(void) {
  int32_t sum = 0;
#if __ARM_ARCH_ISA_THUMB == 1
  sum += kTaps[0] == kTaps[1];
#endif
  for (uint32_t i = 0; i < sizeof(kFunctions) / sizeof(kFunctions[0]); ++i) {
    sum += kFunctions[i](1, 1, 1, 1);
  }
  return sum == 0;
}
