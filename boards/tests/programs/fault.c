// SPDX-License-Identifier: Apache-2.0
//
// Executes an undefined instruction, inside a counted region.
#include "boards/common/print.h"
#include "firmware/runtime/profile.h"

__attribute__((noinline)) static void deliberate_fault(void) { __asm__ volatile("udf #0"); }

int main(void) {
  pl_print("before\n");
  pl_profile_begin(PL_PROFILE_INFERENCE);
  deliberate_fault();
  pl_print("PL:PASS\n");
  return 0;
}
