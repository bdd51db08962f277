// SPDX-License-Identifier: Apache-2.0
//
// Never ends.
#include "boards/common/print.h"

int main(void) {
  pl_print("waiting\n");
  for (;;) {
    __asm__ volatile("nop");
  }
}
