// SPDX-License-Identifier: Apache-2.0
//
// The marks tell the region's number to a simulator's plugin (boards/simulator/plugin/count.c), to
// which some versions of QEMU show neither registers nor memory, by how often they turn: once more
// than the number.
#include <stdint.h>

#include "firmware/runtime/profile.h"

// For Armv6-M compilers take the older syntax in what is written by hand.
#define TURN            \
  ".syntax unified\n\t" \
  "1:\n\t"              \
  "subs r0, #1\n\t"     \
  "bpl 1b\n\t"          \
  "bx lr"

__attribute__((naked)) void pl_profile_begin(__attribute__((unused)) uint32_t region) {
  __asm__ volatile(TURN);
}

__attribute__((naked)) void pl_profile_end(__attribute__((unused)) uint32_t region) {
  __asm__ volatile(TURN);
}
