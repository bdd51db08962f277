// SPDX-License-Identifier: Apache-2.0
//
// Takes the stack of the exception handlers away and faults: nothing can report it.
#include <stdint.h>

#include "boards/common/print.h"

int main(void) {
  pl_print("before\n");
  const uint32_t nowhere = 0xffffffe0u;
  __asm__ volatile(
      "msr msp, %0\n\t"
      "udf #0" ::"r"(nowhere));
  pl_print("PL:PASS\n");
  return 0;
}
