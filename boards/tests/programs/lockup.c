// SPDX-License-Identifier: Apache-2.0
//
// Removes the stack of the exception handlers and faults, so nothing can report it. A counted
// region stays open.
#include <stdint.h>

#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

int main(void) {
  pl_print("before\n");
  pl_profile_begin(PL_PROFILE_INFERENCE);
  const uint32_t nowhere = 0xffffffe0u;
  __asm__ volatile(
      "msr msp, %0\n\t"
      "udf #0" ::"r"(nowhere));
  pl_print("PL:PASS\n");
  return 0;
}
