// SPDX-License-Identifier: Apache-2.0
//
// Calls itself until the stack overflows, inside a counted region.
#include <stdint.h>

#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

// NOLINTNEXTLINE(misc-no-recursion): on purpose
__attribute__((noinline)) static uint32_t deeper(const volatile uint32_t *above) {
  volatile uint32_t frame[40];
  frame[0] = above[0] + 1;
  return frame[0] == 0 ? 0 : deeper(frame) + frame[0];
}

int main(void) {
  pl_profile_begin(PL_PROFILE_INFERENCE);
  const uint32_t start = 1;
  pl_print_u32(deeper(&start));
  pl_print("\nPL:PASS\n");
  return 0;
}
