// SPDX-License-Identifier: Apache-2.0
#include "boards/common/print.h"

int main(void) {
  pl_print("PL:PASS\n");
  return 0;
}
