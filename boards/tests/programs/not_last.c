// SPDX-License-Identifier: Apache-2.0
//
// Goes on after saying that all is well.
#include "boards/common/print.h"

int main(void) {
  pl_print("PL:PASS\n");
  pl_print("one more thing\n");
  return 0;
}
