// SPDX-License-Identifier: Apache-2.0
//
// Executes an undefined instruction.
#include "boards/common/print.h"

__attribute__((noinline)) static void deliberate_fault(void) { __asm__ volatile("udf #0"); }

int main(void) {
  pl_print("before\n");
  deliberate_fault();
  pl_print("PL:PASS\n");
  return 0;
}
