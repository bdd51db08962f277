// SPDX-License-Identifier: Apache-2.0
//
// Continues after reporting success.
#include "boards/common/print.h"

int main(void) {
  pl_print("PL:PASS\n");
  pl_print("one more thing\n");
  return 0;
}
