// SPDX-License-Identifier: Apache-2.0
//
// The marks report the region's number to a simulator's plugin (tools/simulator/plugin/count.c) by
// their number of loop turns: the region's number plus one. Some versions of QEMU show neither
// registers nor memory to plugins. The address of a plan is sent bit by bit, the highest first:
// only a 0 reaches the nop.
#include <stdint.h>

#include "firmware/runtime/profile.h"

// For Armv6-M, compilers use the older syntax in inline assembly.
#define TURN            \
  ".syntax unified\n\t" \
  "1:\n\t"              \
  "subs r0, #1\n\t"     \
  "bpl 1b\n\t"          \
  "bx lr"

__attribute__((naked)) void pl_profile_plan(__attribute__((unused)) const void *plan) {
  __asm__ volatile(
      ".syntax unified\n\t"
      "movs r1, #32\n\t"
      "1:\n\t"
      "lsls r0, r0, #1\n\t"
      "bcs 2f\n\t"
      "nop\n\t"
      "2:\n\t"
      "subs r1, #1\n\t"
      "bne 1b\n\t"
      "bx lr");
}

__attribute__((naked)) void pl_profile_begin(__attribute__((unused)) uint32_t region) {
  __asm__ volatile(TURN);
}

__attribute__((naked)) void pl_profile_end(__attribute__((unused)) uint32_t region) {
  __asm__ volatile(TURN);
}
