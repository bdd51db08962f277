// SPDX-License-Identifier: Apache-2.0
//
// Reports a failure in its own words.
#include "boards/common/print.h"

int main(void) {
  pl_print("PL:FAIL seven is not eight\n");
  return 1;
}
