// SPDX-License-Identifier: Apache-2.0
//
// Prints every kind of number and ends well.
#include <stdint.h>

#include "boards/common/print.h"

int main(void) {
  pl_print_u32(0);
  pl_print(" ");
  pl_print_u32(UINT32_MAX);
  pl_print(" ");
  pl_print_i32(INT32_MIN);
  pl_print(" ");
  pl_print_i32(-1);
  pl_print("\n");
  pl_print_hex32(0x0123cdef);
  pl_print(" ");
  pl_print_fixed(-1234, 2);
  pl_print(" ");
  pl_print_fixed(5, 3);
  pl_print(" ");
  pl_print_fixed(INT32_MAX, 9);
  pl_print("\n");
  pl_print("PL:STAT answers 42\n");
  pl_print("PL:PASS\n");
  return 0;
}
