// SPDX-License-Identifier: Apache-2.0
//
// Regions of known length for the counting of instructions.
#include <stddef.h>
#include <stdint.h>

#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

// Executes 2 * n + 1 instructions.
__attribute__((naked, noinline)) static void loop(__attribute__((unused)) uint32_t n) {
  __asm__ volatile(
      "1:\n\t"
      "subs r0, #1\n\t"
      "bne 1b\n\t"
      "bx lr" ::
          : "r0", "cc");
}

static void count(uint32_t region, uint32_t n) {
  pl_profile_begin(region);
  loop(n);
  pl_profile_end(region);
}

// Steps of two plans with the same number: the second runs in a step of the first.
static void count_in_plans(void) {
  static const uint32_t outer = 0;
  static const uint32_t inner = 1;
  pl_profile_begin(5);
  pl_profile_plan(&outer);
  pl_profile_begin(1);
  pl_profile_plan(&inner);
  count(1, 100);
  pl_profile_plan(NULL);
  count(3, 20);
  pl_profile_end(1);
  count(2, 200);
  pl_profile_plan(NULL);
  pl_profile_end(5);
}

int main(void) {
  loop(50);
  count(1, 1000);
  count(2, 3000);
  count(1, 1000);
  pl_profile_begin(7);
  count(2, 3000);
  loop(10);
  pl_profile_end(7);
  count_in_plans();
  pl_print("PL:PASS\n");
  return 0;
}
